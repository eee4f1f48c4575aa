"""Primitives: pick, place, hold; they join planning, grasping, affordance and control, and never see the simulator."""
