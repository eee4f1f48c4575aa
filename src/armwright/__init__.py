"""armwright: foundation models work a robot arm, from a sentence to graded, recorded demonstrations."""

__all__ = ["__version__"]


def __getattr__(name: str) -> str:
    """Look the version up when it is asked for: the command line must be able to take an interrupt at once."""
    if name != "__version__":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("armwright")
    except PackageNotFoundError:  # a source tree that was never installed
        return "0+unknown"
