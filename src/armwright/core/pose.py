"""Rigid transforms: position in metres and unit quaternion wxyz."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armwright.core.errors import UsageError

Array = NDArray[np.float64]


def quat_multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Return the Hamilton product ``a * b`` of quaternions wxyz, (..., 4) float."""
    first, second = np.asarray(a, float), np.asarray(b, float)
    if first.ndim == second.ndim == 1:
        return np.array(_hamilton(*first.tolist(), *second.tolist()))
    return np.stack(_hamilton(*np.moveaxis(first, -1, 0), *np.moveaxis(second, -1, 0)), axis=-1)


def _hamilton(aw: Any, ax: Any, ay: Any, az: Any, bw: Any, bx: Any, by: Any, bz: Any) -> tuple[Any, ...]:
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def quat_to_matrix(quat_wxyz: ArrayLike) -> Array:
    """Return the (3, 3) rotation matrix of a unit quaternion wxyz."""
    # Python's floats: NumPy's scalars cost several times as much, and poses are turned very often.
    w, x, y, z = np.asarray(quat_wxyz, float).tolist()
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )


def matrix_to_quat(rotation: ArrayLike) -> Array:
    """Return the unit quaternion wxyz (w >= 0) of a (3, 3) rotation matrix."""
    (xx, xy, xz), (yx, yy, yz), (zx, zy, zz) = np.asarray(rotation, float).tolist()
    trace = xx + yy + zz
    largest = max(trace, xx, yy, zz)
    if largest == trace:
        q = (1 + trace, zy - yz, xz - zx, yx - xy)
    elif largest == xx:
        q = (zy - yz, 1 + 2 * xx - trace, xy + yx, xz + zx)
    elif largest == yy:
        q = (xz - zx, xy + yx, 1 + 2 * yy - trace, yz + zy)
    else:
        q = (yx - xy, xz + zx, yz + zy, 1 + 2 * zz - trace)
    unit = np.array(q) / (math.copysign(1.0, q[0]) * math.sqrt(sum(v * v for v in q)))
    return np.asarray(unit)


@dataclass(frozen=True, eq=False)
class Pose:
    """A rigid transform; as ``pose_world_mug`` it maps points of the mug's frame into the world.

    Args:
        position_m: (3,) float, metres.
        quat_wxyz: (4,) float, normalised on construction.

    Raises:
        UsageError: A wrong shape, a value that is not finite, or a zero quaternion.
    """

    position_m: Array = field(default_factory=lambda: np.zeros(3))
    quat_wxyz: Array = field(default_factory=lambda: np.array([1.0, 0.0, 0.0, 0.0]))

    def __post_init__(self) -> None:
        p = np.array(self.position_m, dtype=np.float64)
        q = np.array(self.quat_wxyz, dtype=np.float64)
        if p.shape != (3,) or q.shape != (4,) or not all(map(math.isfinite, (*p.tolist(), *q.tolist()))):
            raise UsageError(f"a pose needs 3 finite metres and 4 finite quaternion values, got {p!r} and {q!r}.")
        norm = math.sqrt(sum(v * v for v in q.tolist()))
        if norm < 1e-9:
            raise UsageError("a pose's quaternion wxyz must not be zero.")
        q /= norm
        p.setflags(write=False)
        q.setflags(write=False)
        object.__setattr__(self, "position_m", p)
        object.__setattr__(self, "quat_wxyz", q)

    @classmethod
    def from_matrix(cls, matrix: ArrayLike) -> Pose:
        """Build a pose from a (4, 4) homogeneous matrix."""
        m = np.asarray(matrix, float)
        if m.shape != (4, 4):
            raise UsageError(f"a homogeneous matrix is (4, 4), got {m.shape}.")
        return cls(m[:3, 3], matrix_to_quat(m[:3, :3]))

    @classmethod
    def from_rotation(cls, rotation: ArrayLike, position_m: ArrayLike = (0.0, 0.0, 0.0)) -> Pose:
        """Build a pose from a (3, 3) rotation matrix and a position [m]."""
        return cls(np.asarray(position_m, float), matrix_to_quat(rotation))

    @classmethod
    def from_yaw(cls, position_m: ArrayLike, yaw_rad: float) -> Pose:
        """Build a pose that is upright and turned by ``yaw_rad`` about +z."""
        half = 0.5 * yaw_rad
        return cls(np.asarray(position_m, float), np.array([np.cos(half), 0.0, 0.0, np.sin(half)]))

    @cached_property
    def rotation(self) -> Array:
        """The (3, 3) rotation matrix, read-only."""
        matrix = quat_to_matrix(self.quat_wxyz)
        matrix.setflags(write=False)
        return matrix

    @property
    def yaw_rad(self) -> float:
        """Heading of the frame's +x axis about the world's +z [rad]."""
        r = self.rotation
        return float(np.arctan2(r[1, 0], r[0, 0]))

    def matrix(self) -> Array:
        """Return the (4, 4) homogeneous matrix."""
        m = np.eye(4)
        m[:3, :3] = self.rotation
        m[:3, 3] = self.position_m
        return m

    def inverse(self) -> Pose:
        """Return the transform the other way round."""
        conj = self.quat_wxyz * np.array([1.0, -1.0, -1.0, -1.0])
        return Pose(-(quat_to_matrix(conj) @ self.position_m), conj)

    def __matmul__(self, other: Pose) -> Pose:
        return Pose(self.rotation @ other.position_m + self.position_m, quat_multiply(self.quat_wxyz, other.quat_wxyz))

    def transform(self, points: ArrayLike) -> Array:
        """Map (..., 3) points [m] out of this frame."""
        return np.asarray(np.asarray(points, float) @ self.rotation.T + self.position_m)

    def rotate(self, vectors: ArrayLike) -> Array:
        """Turn (..., 3) vectors out of this frame, without the shift."""
        return np.asarray(np.asarray(vectors, float) @ self.rotation.T)

    def angle_to(self, other: Pose) -> float:
        """Return the rotation angle between the two orientations [rad]."""
        dot = min(1.0, abs(float(self.quat_wxyz @ other.quat_wxyz)))
        return 2.0 * float(np.arccos(dot))

    def distance_to(self, other: Pose) -> float:
        """Return the distance between the two origins [m]."""
        return float(np.linalg.norm(self.position_m - other.position_m))

    def to_list(self) -> list[float]:
        """Return ``[x, y, z, w, x, y, z]`` for JSON."""
        return [*map(float, self.position_m), *map(float, self.quat_wxyz)]
