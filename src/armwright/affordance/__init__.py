"""Which points of an object an affordance query means: models behind one protocol."""
