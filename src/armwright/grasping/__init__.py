"""Grasp candidates: sampled inside an affordance region, checked against object and scene (AffordSim §3.2)."""
