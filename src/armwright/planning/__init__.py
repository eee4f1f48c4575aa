"""Batch-first motion planning on the CPU: world SDF, sphere robot, IK, RRT-Connect, shortcut, timing, verifier."""
