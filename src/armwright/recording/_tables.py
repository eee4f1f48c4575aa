"""Read parquet and JSON of a dataset so that a damaged file is named, whatever is wrong with it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from armwright.core.errors import OutputError

# An MP4 file begins with the size and the name of its first box.
_MP4_BOX = b"ftyp"
_MP4_INDEX = b"moov"
_BOX_HEAD = 8


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


def check_video(path: Path, *, frames: int | None = None) -> None:
    """Refuse a video that is missing, empty, cut or plainly something else, without reading its pictures.

    An MP4 file is a row of boxes, each of which begins with its size; cut anywhere, they no longer fill the file.

    Args:
        path: The file.
        frames: How many frames it must declare, where that is known.

    Raises:
        OutputError: It is.
    """
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            names = _boxes(file, size)
    except OSError as error:
        raise damaged(path, error) from error
    if names[:1] != [_MP4_BOX]:
        raise damaged(path, "it is no MP4 file" if size else "it is empty")
    if names[-1] is None or _MP4_INDEX not in names:
        raise damaged(path, "it is cut, or something was added to it")
    if frames is not None:
        declared = _declared_frames(path)
        if declared != frames:
            raise damaged(path, f"it has {declared} frames, its episodes have {frames}")


def _boxes(file: BinaryIO, size: int) -> list[bytes | None]:
    """Return the names of a file's boxes, and None at the end where they do not fill it."""
    names: list[bytes | None] = []
    at = 0
    while at < size:
        file.seek(at)
        head = file.read(16)
        length = int.from_bytes(head[:4], "big")
        if length == 1:  # the size does not fit four bytes and follows the name
            length = int.from_bytes(head[8:16], "big")
        names.append(head[4:8])
        if length < _BOX_HEAD or at + length > size:
            return [*names, None]
        at += length
    return names


def _declared_frames(path: Path) -> int:
    import av

    try:
        with av.open(str(path)) as container:
            return int(container.streams.video[0].frames) if container.streams.video else 0
    except (av.FFmpegError, OSError) as error:
        raise damaged(path, error) from error
