"""From depth images to maps: recorded views, fused distance fields, meshes, and instances with names."""
