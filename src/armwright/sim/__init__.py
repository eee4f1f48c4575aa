"""The MuJoCo world: scene building, rendering, simulated arm, clock, cameras, truth."""
