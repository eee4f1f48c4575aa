"""Objects and scenes: parametric categories with named parts, the library that indexes them, `SceneSpec`."""
