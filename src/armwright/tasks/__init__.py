"""Stages and their judges: success and compliance from the physics."""
