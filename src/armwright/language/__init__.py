"""From a sentence to a scene, ordered primitives and affordance queries (AffordSim §3.1)."""
