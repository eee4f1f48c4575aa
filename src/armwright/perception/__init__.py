"""From pixels and depth to objects; knows nothing of the simulator."""
