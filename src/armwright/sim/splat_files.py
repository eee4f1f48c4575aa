"""Files of Gaussian fields, read with every check, and written: the .ply of 3D Gaussian splatting, and .splat."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armwright.assets.randomise import ImageFile
from armwright.core.errors import UsageError, quoted
from armwright.core.files import write_bytes
from armwright.sim.gaussians import SH_0, SH_COUNTS, Float32, GaussianField
from armwright.sim.textures import hash_file

_HEADER_BYTES = 64_000
_TYPES = {"float": "<f4", "float32": "<f4", "double": "<f8", "float64": "<f8", "uchar": "u1", "uint8": "u1"}
_TYPES |= {"char": "i1", "int8": "i1", "short": "<i2", "int16": "<i2", "ushort": "<u2", "uint16": "<u2"}
_TYPES |= {"int": "<i4", "int32": "<i4", "uint": "<u4", "uint32": "<u4"}
_NEEDED = (
    *("x", "y", "z", "f_dc_0", "f_dc_1", "f_dc_2", "opacity"),
    *("scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"),
)
# Larger logarithms of a size [m] overflow, and belong to no scene.
_LOG_SCALE_MAX = 20.0
_SPLAT = np.dtype([("mean", "<f4", 3), ("scale", "<f4", 3), ("rgba", "u1", 4), ("quat", "u1", 4)])
_HINT = "Export the field again; .ply files of 3D Gaussian splatting and .splat files are read."


def load_field(path: Path) -> GaussianField:
    """Read a Gaussian field.

    Raises:
        UsageError: The file is not there, cut short, of another kind, or holds values that no Gaussian has.
    """
    if path.suffix.lower() not in (".ply", ".splat"):
        raise UsageError(f"{path} is neither a .ply nor a .splat file.", hint=_HINT)
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}.", hint="Give a file that exists.") from error
    try:
        return _from_ply(path, data) if path.suffix.lower() == ".ply" else _from_splat(path, data)
    except UsageError as error:
        if str(path) in str(error):
            raise
        raise UsageError(f"{path} is damaged: {error}", hint=_HINT) from error


@lru_cache(maxsize=2)
def _cached(path: str, sha256: str) -> GaussianField:
    if hash_file(Path(path)) != sha256:
        raise UsageError(
            f"the field {path} has changed since the looks were drawn.", hint="Put the file back that it was."
        )
    return load_field(Path(path))


def load_checked(file: ImageFile) -> GaussianField:
    """Read a field that a record names; the last ones are kept.

    Raises:
        UsageError: It is gone, has changed, or is damaged.
    """
    return _cached(file.path, file.sha256)


def _from_ply(path: Path, data: bytes) -> GaussianField:
    count, fields, start = _ply_header(path, data)
    layout = np.dtype(fields)
    have = len(data) - start
    if have < count * layout.itemsize:
        raise UsageError(
            f"{path} is cut short: {count} Gaussians take {count * layout.itemsize} bytes, it holds {have}.", hint=_HINT
        )
    rows = np.frombuffer(data, layout, count, start)
    names = tuple(name for name, _ in fields)
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise UsageError(f"{path} is no Gaussian field: it lacks {', '.join(missing)}.", hint=_HINT)
    log_scale = _columns(rows, ("scale_0", "scale_1", "scale_2"))
    if np.nanmax(log_scale, initial=0.0) > _LOG_SCALE_MAX:
        raise UsageError(f"a Gaussian is e^{np.nanmax(log_scale):.0f} m large, which no scene is.")
    with np.errstate(over="ignore"):
        opacity = 1.0 / (1.0 + np.exp(-_columns(rows, ("opacity",))[:, 0]))
    return GaussianField(
        mean_m=_columns(rows, ("x", "y", "z")),
        scale_m=np.exp(log_scale),
        quat_wxyz=_unit(_columns(rows, tuple(f"rot_{k}" for k in range(4)))),
        opacity=opacity.astype(np.float32),
        sh=_coefficients(path, rows, names),
    )


def _ply_header(path: Path, data: bytes) -> tuple[int, list[tuple[str, str]], int]:
    """Return the number of vertices, their fields, and where they begin."""
    end = data[:_HEADER_BYTES].find(b"end_header")
    newline = data.find(b"\n", end)
    if not data.startswith(b"ply") or end < 0 or newline < 0:
        raise UsageError(f"{path} is no .ply file, or its header is cut short.", hint=_HINT)
    lines = [line.split() for line in data[:end].decode("ascii", "replace").splitlines()]
    kinds = [line[1] for line in lines if line[:1] == ["format"] and len(line) > 1]
    if kinds != ["binary_little_endian"]:
        raise UsageError(
            f"{path} is in the format {quoted(' '.join(kinds))}; binary_little_endian is read.", hint=_HINT
        )
    count, fields, element = -1, [], ""
    for line in lines:
        if line[:1] == ["element"] and len(line) == 3:
            if element == "" and line[1] != "vertex":
                raise UsageError(f"{path} begins with {quoted(line[1])}, not with vertices.", hint=_HINT)
            element = line[1]
            if element == "vertex":
                count = int(line[2]) if line[2].isdigit() else -1
        elif line[:1] == ["property"] and element == "vertex":
            if len(line) != 3 or line[1] not in _TYPES:
                raise UsageError(f"{path} has the field {quoted(' '.join(line[1:]))}, which is not read.", hint=_HINT)
            fields.append((line[2], _TYPES[line[1]]))
    names = [name for name, _ in fields]
    if count < 1 or not fields or len(set(names)) != len(names):
        raise UsageError(f"{path} holds no vertices, or two fields of one name.", hint=_HINT)
    return count, fields, newline + 1


def _columns(rows: NDArray[Any], names: tuple[str, ...]) -> Float32:
    return np.stack([rows[name].astype(np.float32) for name in names], axis=1)


def _coefficients(path: Path, rows: NDArray[Any], names: tuple[str, ...]) -> Float32:
    """Return (n, k, 3); the file holds all but the first channel by channel."""
    rest = sum(name.startswith("f_rest_") for name in names)
    if rest not in [3 * (k - 1) for k in SH_COUNTS] or any(f"f_rest_{k}" not in names for k in range(rest)):
        raise UsageError(f"{path} has {rest} fields f_rest; 0, 9, 24 or 45 belong to degrees 0 to 3.", hint=_HINT)
    first = _columns(rows, ("f_dc_0", "f_dc_1", "f_dc_2"))[:, None, :]
    if rest == 0:
        return first
    more = _columns(rows, tuple(f"f_rest_{k}" for k in range(rest))).reshape(len(rows), 3, rest // 3)
    return np.ascontiguousarray(np.concatenate([first, more.transpose(0, 2, 1)], axis=1))


def _unit(quat: Float32) -> Float32:
    norm = np.linalg.norm(quat, axis=1, keepdims=True)
    if (norm < 1e-9).any():
        raise UsageError(f"the orientation of {int((norm < 1e-9).sum())} Gaussians is zero.")
    return np.asarray(quat / norm)


def _from_splat(path: Path, data: bytes) -> GaussianField:
    if not data or len(data) % _SPLAT.itemsize:
        raise UsageError(
            f"{path} is cut short: it has {len(data)} bytes, and each Gaussian takes {_SPLAT.itemsize}.", hint=_HINT
        )
    rows = np.frombuffer(data, _SPLAT)
    if (rows["scale"] <= 0).any():
        raise UsageError(f"{int((rows['scale'] <= 0).any(1).sum())} Gaussians have a size that is not positive.")
    return GaussianField(
        mean_m=rows["mean"].copy(),
        scale_m=rows["scale"].copy(),
        quat_wxyz=_unit((rows["quat"].astype(np.float32) - 128.0) / 128.0),
        opacity=rows["rgba"][:, 3].astype(np.float32) / 255.0,
        sh=((rows["rgba"][:, :3].astype(np.float32) / 255.0 - 0.5) / SH_0)[:, None, :].astype(np.float32),
    )


def write_field(path: Path, field: GaussianField) -> None:
    """Write a field, as .ply with all its coefficients or as .splat with its plain colours and eight-bit turns.

    Raises:
        UsageError: Another suffix.
        OutputError: It cannot be written.
    """
    kinds = {".ply": _to_ply, ".splat": _to_splat}
    if path.suffix.lower() not in kinds:
        raise UsageError(f"{path} is neither a .ply nor a .splat file.", hint=_HINT)
    write_bytes(path, kinds[path.suffix.lower()](field))


def _to_ply(field: GaussianField) -> bytes:
    n, k = field.sh.shape[:2]
    names = ["x", "y", "z", "nx", "ny", "nz", "f_dc_0", "f_dc_1", "f_dc_2"]
    names += [f"f_rest_{i}" for i in range(3 * (k - 1))]
    names += ["opacity", "scale_0", "scale_1", "scale_2", "rot_0", "rot_1", "rot_2", "rot_3"]
    bounded = np.clip(field.opacity, 1e-6, 1.0 - 1e-6)
    rows = np.hstack(
        [
            field.mean_m,
            np.zeros((n, 3), np.float32),
            field.sh[:, 0],
            field.sh[:, 1:].transpose(0, 2, 1).reshape(n, -1),
            np.log(bounded / (1.0 - bounded))[:, None],
            np.log(field.scale_m),
            field.quat_wxyz,
        ]
    ).astype("<f4")
    head = ["ply", "format binary_little_endian 1.0", f"element vertex {n}"]
    head += [f"property float {name}" for name in names] + ["end_header", ""]
    return "\n".join(head).encode() + rows.tobytes()


def _to_splat(field: GaussianField) -> bytes:
    rows = np.zeros(len(field), _SPLAT)
    rows["mean"], rows["scale"] = field.mean_m, field.scale_m
    colour = 0.5 + SH_0 * field.sh[:, 0]
    rows["rgba"][:, :3] = np.clip(255.0 * colour + 0.5, 0, 255)
    rows["rgba"][:, 3] = np.clip(255.0 * field.opacity + 0.5, 0, 255)
    rows["quat"] = np.clip(np.round(128.0 * field.quat_wxyz + 128.0), 0, 255)
    return rows.tobytes()
