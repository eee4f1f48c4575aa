"""Loose lids: the parts of an object that come off and are things of their own while they are off their seat."""

from __future__ import annotations

import weakref
from collections.abc import Set
from dataclasses import replace

import numpy as np

from armwright.assets.footprint import convex_outline
from armwright.assets.model import LinkModel, ObjectModel
from armwright.core.pose import Array, Pose
from armwright.core.task import RegionName

LID: RegionName = "Graspable Lid"
"""The region by which lids are held."""

# A lid lies on its seat within the play of its plug, and as level and as low as contact lets it.
SEATED_SIDEWAYS_M = 0.008
SEATED_RISE_M = 0.002
SEATED_RAD = np.deg2rad(3.0)
# Turns about a lid's axis that are looked at, and how far its outline may differ then.
TURNS = 24
SAME_OUTLINE_M = 0.0015

_PARTS: weakref.WeakKeyDictionary[ObjectModel, dict[str, ObjectModel]] = weakref.WeakKeyDictionary()
_BARE: weakref.WeakKeyDictionary[ObjectModel, dict[frozenset[str], ObjectModel]] = weakref.WeakKeyDictionary()


def part_id(object_id: str, link: str) -> str:
    """Return the id of a loose link as a thing of its own; planners' obstacles bear it too."""
    return f"{object_id}/{link}"


def owner_of(any_id: str) -> tuple[str, str]:
    """Return the object's id and the link's name of an id, the latter empty where it is a whole object's."""
    object_id, _, link = any_id.partition("/")
    return object_id, link


def loose_lids(model: ObjectModel) -> tuple[LinkModel, ...]:
    """Return the loose links by which an object is opened and closed, if no hinge or slide opens it.

    Not those that it stands on, such as a kettle's stand, nor what only accompanies it.
    """
    wanted = set(model.regions.get(LID, ()))
    if any(link.joint is not None for link in model.links):
        return ()
    apart = model.left_behind
    return tuple(link for link in model.links[1:] if link.name not in apart and wanted & set(link.part_names))


def part_model(model: ObjectModel, link_name: str) -> ObjectModel:
    """Return one loose link as an object, in the whole object's frame; the same one each time.

    Raises:
        KeyError: There is no such loose link.
    """
    kept = _PARTS.setdefault(model, {})
    if link_name not in kept:
        found = [link for link in model.links[1:] if link.name == link_name and link.joint is None]
        if not found:
            raise KeyError(link_name)
        link = replace(found[0], parent=None)
        have = set(link.part_names)
        regions = {name: own for name, parts in model.regions.items() if (own := tuple(p for p in parts if p in have))}
        kept[link_name] = replace(model, links=(link,), regions=regions, containers=(), supports=(), static=False)
    return kept[link_name]


def without(model: ObjectModel, names: Set[str]) -> ObjectModel:
    """Return an object without some of its loose links; itself where there are none to leave out."""
    gone = frozenset(names)
    if not gone:
        return model
    kept = _BARE.setdefault(model, {})
    if gone not in kept:
        kept[gone] = replace(model, links=tuple(link for link in model.links if link.name not in gone))
    return kept[gone]


def is_seated(link: LinkModel, pose_object_link: Pose) -> bool:
    """Tell whether a loose link lies where it belongs, its pose given in the object's frame, whatever its turn."""
    seat = _middle(link)
    moved = pose_object_link.transform(seat) - seat
    tilt = float(np.arccos(np.clip(pose_object_link.rotation[2, 2], -1.0, 1.0)))
    sideways, rise = float(np.hypot(*moved[:2])), abs(float(moved[2]))
    return sideways < SEATED_SIDEWAYS_M and rise < SEATED_RISE_M and tilt < SEATED_RAD


def seat_poses(link: LinkModel) -> list[Pose]:
    """Return the link's poses in the object's frame in which it lies on its seat, as it was made first.

    A round lid may be turned about its axis at will, a square one by quarters.
    """
    axis = np.array([*_middle(link)[:2], 0.0])
    outline = convex_outline(link.vertices_m[:, :2] - axis[:2])
    angle = 2 * np.pi * np.arange(4 * TURNS) / (4 * TURNS)
    reach = (outline @ np.stack([np.cos(angle), np.sin(angle)])).max(0)
    poses = []
    for turn in range(TURNS):
        if np.abs(np.roll(reach, 4 * turn) - reach).max() < SAME_OUTLINE_M:
            turned = Pose.from_yaw(np.zeros(3), 2 * np.pi * turn / TURNS)
            poses.append(Pose(axis - turned.rotate(axis), turned.quat_wxyz))
    return poses


def _middle(link: LinkModel) -> Array:
    """Return the middle of a link's box, (3,) in the object's frame [m]."""
    return np.asarray(0.5 * (link.vertices_m.min(0) + link.vertices_m.max(0)))
