"""Read parquet and JSON of a dataset so that a damaged file is named, whatever is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from armwright.core.errors import OutputError

# An MP4 file begins with the size and the name of its first box.
_MP4_BOX = b"ftyp"


def damaged(path: Path, reason: object) -> OutputError:
    """Return the error that names a file of a dataset that is missing or not what was written."""
    text = " ".join(str(reason).split()) or type(reason).__name__
    if isinstance(reason, FileNotFoundError):
        return OutputError(f"{path} is missing.", hint="Restore it from a copy; armwright dataset verify lists more.")
    return OutputError(
        f"{path} is damaged: {text.rstrip('.')}.", hint="Restore it from a copy; armwright dataset verify lists more."
    )


def read_table(path: Path, *, columns: Sequence[str] | Callable[[str], bool] | None = None, **how: Any) -> Any:
    """Read a parquet file.

    Args:
        path: The file.
        columns: Which columns, by name or by a test of the name; each one named must be there.
        how: Passed on to `pyarrow.parquet.read_table`.

    Raises:
        OutputError: The file is missing, damaged, or lacks a column.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        if callable(columns):
            columns = [name for name in pq.read_schema(path).names if columns(name)]
        table = pq.read_table(path, columns=columns, partitioning=None, **how)
    except (OSError, KeyError, ValueError, pa.ArrowException) as error:
        raise damaged(path, error) from error
    lacking = [name for name in columns or () if name not in table.column_names]
    if lacking:
        raise damaged(path, f"it has no column {', '.join(lacking)}")
    return table


def rows_of(path: Path) -> int:
    """Return the number of rows of a parquet file, from its footer.

    Raises:
        OutputError: The file is missing, empty or cut.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        return int(pq.read_metadata(path).num_rows)
    except (OSError, ValueError, pa.ArrowException) as error:
        raise damaged(path, error) from error


def check_video(path: Path) -> None:
    """Refuse a video that is missing, empty or plainly something else, by its first bytes.

    Raises:
        OutputError: It is.
    """
    try:
        with path.open("rb") as file:
            start = file.read(8)
    except OSError as error:
        raise damaged(path, error) from error
    if start[4:] != _MP4_BOX:
        raise damaged(path, "it is empty" if not start else "it is no MP4 file")
