"""The entry point of ``armwright``: readies the process, runs a command, turns what went wrong into an exit code.

Nothing that takes time is imported above ``main``, so that an interrupt meets it from the start.
"""

from __future__ import annotations

import errno
import sys

from armwright.cli._signals import Interruption

# What a disk or a folder may answer to any call, also one deep inside a library.
_DISK = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_FOLDER = {errno.EROFS, errno.EACCES, errno.EPERM, errno.ENAMETOOLONG, errno.ELOOP, errno.ENOTDIR, errno.EISDIR}


def main() -> None:
    """Run the command line; exit 0 when done, 1 when the task failed, 2 for misuse, 128 + N after signal N."""
    with Interruption() as interruption:
        try:
            code = _command()
        except KeyboardInterrupt:
            code = interruption.exit_code
        except Exception:
            if not interruption.signal:
                raise
        if interruption.signal:  # also where a library made another error of it, or swallowed it
            code = interruption.exit_code
            sys.stderr.write(f"armwright: {interruption.verb}; what was finished is kept.\n")
    sys.exit(code)


def _command() -> int:
    from armwright.cli._streams import steady_streams

    steady_streams()
    from armwright.core.errors import ArmwrightError, shortened

    try:
        return _run_app()
    except ArmwrightError as error:
        text, code = str(error), error.exit_code
    except OSError as error:
        if error.errno not in _DISK | _FOLDER:
            raise
        where = f" {error.filename}" if error.filename else ""
        advice = "Free some space" if error.errno in _DISK else "Choose another place"
        text, code = f"cannot write{where}: {error.strerror}. {advice}, then try again.", 2
    sys.stderr.write(f"armwright: {shortened(text)}\n")
    return code


def _run_app() -> int:
    """Run the command that the arguments name, and see that its output is out."""
    from armwright.cli.app import app
    from armwright.cli.arguments import check_arguments
    from armwright.core.errors import shortened
    from armwright.sim.gl_environment import hidden_from_mujoco

    check_arguments(sys.argv[1:])
    with hidden_from_mujoco():
        try:
            result = app(standalone_mode=False)
        except Exception as error:  # typer's classes for misuse are its own business
            if not (hasattr(error, "show") and hasattr(error, "message")):
                raise
            error.message = shortened(str(error.message))
            error.show()
            result = error.exit_code  # type: ignore[attr-defined]
    sys.stdout.flush()
    return int(result or 0)


if __name__ == "__main__":
    main()
