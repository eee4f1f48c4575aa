"""Store kinematics as one npz file of plain arrays."""

from __future__ import annotations

import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from armwright.core.files import atomic_path
from armwright.robots.kinematics import Kinematics, SphereSet

_ARRAYS = (
    "offset",
    "tool",
    "lower_rad",
    "upper_rad",
    "velocity_rad_s",
    "acceleration_rad_s2",
    "home_rad",
    "self_pairs",
)


def save_kinematics(path: Path, kinematics: Kinematics) -> None:
    """Write kinematics, whole or not at all."""
    arrays: dict[str, Any] = {name: getattr(kinematics, name) for name in _ARRAYS}
    arrays["name"] = np.array(kinematics.name)
    arrays["gaps_m"] = np.array(sorted(kinematics.spheres), float)
    for k, gap in enumerate(sorted(kinematics.spheres)):
        spheres = kinematics.spheres[gap]
        arrays |= {f"center_{k}": spheres.center_m, f"radius_{k}": spheres.radius_m, f"link_{k}": spheres.link}
        if spheres.finger is not None:
            arrays[f"finger_{k}"] = spheres.finger
    if kinematics.self_slack_m is not None:
        arrays["self_slack_m"] = kinematics.self_slack_m
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays)


def load_kinematics(path: Path) -> Kinematics | None:
    """Read kinematics; None if the file is missing or damaged."""
    try:
        with np.load(path, allow_pickle=False) as data:
            spheres = {
                float(gap): SphereSet(
                    data[f"center_{k}"],
                    data[f"radius_{k}"],
                    data[f"link_{k}"],
                    data.get(f"finger_{k}"),
                )
                for k, gap in enumerate(data["gaps_m"])
            }
            slack = data.get("self_slack_m")
            return Kinematics(
                name=str(data["name"]),
                spheres=spheres,
                self_slack_m=slack,
                **{name: data[name] for name in _ARRAYS},
            )
    except (OSError, ValueError, KeyError, EOFError, zipfile.BadZipFile):
        return None
