"""AffordSim: a sentence becomes a scene, grasps, motions, graded and recorded demonstrations."""
