"""A field of 3D Gaussians: the plain arrays that files hold and the renderer draws."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from armwright.core.errors import UsageError
from armwright.core.pose import Pose

Float32 = NDArray[np.float32]
# The constant basis function of spherical harmonics, 1 / (2 sqrt(pi)).
SH_0 = 0.28209479177387814
# Number of coefficients of each degree.
SH_COUNTS = (1, 4, 9, 16)


@dataclass(frozen=True, eq=False)
class GaussianField:
    """n Gaussians.

    Attributes:
        mean_m: (n, 3) centres.
        scale_m: (n, 3) standard deviations along the own axes, positive.
        quat_wxyz: (n, 4) unit orientations of the own axes.
        opacity: (n,) in [0, 1].
        sh: (n, k, 3) spherical-harmonic coefficients of the colour, k = 1, 4, 9 or 16.
        rotation_sh: (3, 3) that turns the frame of ``mean_m`` into the one that the coefficients were made in, since
            turning a field turns what its colours depend on.

    Raises:
        UsageError: Shapes that do not fit, or values that are not finite.
    """

    mean_m: Float32
    scale_m: Float32
    quat_wxyz: Float32
    opacity: Float32
    sh: Float32
    rotation_sh: Float32 | None = None

    def __post_init__(self) -> None:
        n = len(self.mean_m)
        shapes = {"mean_m": (n, 3), "scale_m": (n, 3), "quat_wxyz": (n, 4), "opacity": (n,)}
        for name, shape in shapes.items():
            value = getattr(self, name)
            if value.shape != shape:
                raise UsageError(f"{name} of a field is {value.shape}; with {n} Gaussians it must be {shape}.")
        if self.sh.ndim != 3 or self.sh.shape[0] != n or self.sh.shape[1] not in SH_COUNTS or self.sh.shape[2] != 3:
            raise UsageError(f"sh of a field is {self.sh.shape}; it must be ({n}, k, 3) with k one of {SH_COUNTS}.")
        for name in (*shapes, "sh"):
            bad = ~np.isfinite(getattr(self, name).reshape(n, -1)).all(1)
            if bad.any():
                raise UsageError(
                    f"{name} of {int(bad.sum())} of {n} Gaussians is not finite, first of number {int(bad.argmax())}."
                )

    def __len__(self) -> int:
        """Number of Gaussians."""
        return len(self.mean_m)

    @property
    def degree(self) -> int:
        """Degree of the spherical harmonics, 0 to 3."""
        return SH_COUNTS.index(self.sh.shape[1])

    def transformed(self, pose_to_from: Pose, *, scale: float = 1.0) -> GaussianField:
        """Return the field in another frame, first scaled about its origin, then moved."""
        turn = pose_to_from.rotation
        own = np.eye(3) if self.rotation_sh is None else self.rotation_sh
        w, x, y, z = quat_multiply_rows(pose_to_from.quat_wxyz, self.quat_wxyz)
        return replace(
            self,
            mean_m=(scale * self.mean_m @ turn.T + pose_to_from.position_m).astype(np.float32),
            scale_m=(scale * self.scale_m).astype(np.float32),
            quat_wxyz=np.stack([w, x, y, z], 1).astype(np.float32),
            rotation_sh=(own @ turn.T).astype(np.float32),
        )


def quat_multiply_rows(left_wxyz: NDArray[np.float64], right_wxyz: Float32) -> tuple[NDArray[np.float64], ...]:
    """Return the products of one quaternion with each row, as four columns."""
    aw, ax, ay, az = left_wxyz
    bw, bx, by, bz = right_wxyz.astype(np.float64).T
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


def colour_field(
    mean_m: Float32, scale_m: Float32, rgb: Float32, *, opacity: float = 0.98, quat_wxyz: Float32 | None = None
) -> GaussianField:
    """Build a field of plain colours.

    Args:
        mean_m: (n, 3).
        scale_m: (n, 3).
        rgb: (n, 3) in [0, 1].
        opacity: Of all.
        quat_wxyz: (n, 4); upright where None.
    """
    n = len(mean_m)
    turn = np.tile(np.array([1, 0, 0, 0], np.float32), (n, 1)) if quat_wxyz is None else quat_wxyz
    sh = ((np.asarray(rgb, np.float32) - 0.5) / SH_0)[:, None, :].astype(np.float32)
    return GaussianField(
        np.asarray(mean_m, np.float32),
        np.asarray(scale_m, np.float32),
        np.asarray(turn, np.float32),
        np.full(n, opacity, np.float32),
        sh,
    )
