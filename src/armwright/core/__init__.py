"""The nouns every room shares: poses, cameras, frames, errors, seeds, settings, files, data wheels, task words."""
