"""armwright: foundation models work a robot arm, from a sentence to graded, recorded demonstrations."""

from importlib.metadata import PackageNotFoundError, version

try:
    __version__ = version("armwright")
except PackageNotFoundError:  # a source tree that was never installed
    __version__ = "0+unknown"

__all__ = ["__version__"]
