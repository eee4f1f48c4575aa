"""Labelled shapes for training and judging affordance models: our own objects, moved, stretched, swapped and seen."""
