"""Where the segmenter's objects stand: rows on shelves and clusters on tables, most of them touching."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
_ANGLES = np.arange(24) * (2 * np.pi / 24)
_DIRECTIONS = np.stack([np.cos(_ANGLES), np.sin(_ANGLES)], -1)
AWAY = np.array([0.0, 0.0, -50.0])


@dataclass(frozen=True)
class Slot:
    """One object of the library: its hull's points (n, 3) [m] and what may be done with it."""

    product: int
    family: str
    points: Array
    may_lie: bool
    carries: bool


@dataclass
class Placed:
    """An object in the scene: its slot, rotation and position [m]; outline as support along 24 directions."""

    slot: int
    rotation: Array
    position: Array
    support: Array
    height: float


def turn(axis: int, angle: float) -> Array:
    """Return a rotation about a coordinate axis."""
    c, s = np.cos(angle), np.sin(angle)
    i, j = [(1, 2), (2, 0), (0, 1)][axis]
    out = np.eye(3)
    out[i, i], out[i, j], out[j, i], out[j, j] = c, -s, s, c
    return out


def stand(slot: int, slots: list[Slot], yaw: float, lying: int) -> Placed:
    """Return an object at rest on z = 0 over the origin; ``lying`` 0 upright, 1 on its side, 2 on its back."""
    rotation = turn(2, yaw)
    if lying:
        rotation = rotation @ turn(lying - 1, np.pi / 2)
    at = slots[slot].points @ rotation.T
    middle = 0.5 * (at[:, :2].min(0) + at[:, :2].max(0))
    at = at - [*middle, at[:, 2].min()]
    position = np.array([*-middle, 0.0])
    position[2] = -(slots[slot].points @ rotation.T)[:, 2].min()
    return Placed(slot, rotation, position, (at[:, :2] @ _DIRECTIONS.T).max(0), float(at[:, 2].max()))


def moved(placed: Placed, by: Array) -> Placed:
    """Return it shifted by (x, y, z) [m]; the support stays that over its own middle."""
    return Placed(placed.slot, placed.rotation, placed.position + by, placed.support, placed.height)


def contact(one: Placed, at: Array, others: list[tuple[Placed, Array]], towards: Array) -> float:
    """Return how far ``one`` may move from ``at`` along a unit direction until it meets one of the others [m]."""
    nearest = np.inf
    for other, middle in others:
        width = other.support + np.roll(one.support, 12)
        offset = at - middle
        gap, speed = _DIRECTIONS @ offset - width, _DIRECTIONS @ towards
        with np.errstate(divide="ignore", invalid="ignore"):
            t = -gap / speed
        enter = max((t[speed < -1e-9]).max(initial=-np.inf), -np.inf)
        leave = (t[speed > 1e-9]).min(initial=np.inf)
        blocked = bool((gap[np.abs(speed) <= 1e-9] >= 0).any())
        if not blocked and leave > max(enter, 0):
            nearest = min(nearest, max(enter, 0.0))
    return float(nearest)


def _gap(rng: np.random.Generator, touching: float) -> float:
    return float(rng.uniform(0, 0.004) if rng.random() < touching else rng.uniform(0.006, 0.06))


def row(
    slots: list[Slot],
    order: list[int],
    rng: np.random.Generator,
    *,
    y_from: float,
    y_to: float,
    touching: float,
    turned: float,
    lying: float = 0.06,
) -> tuple[list[tuple[Placed, Array]], list[int]]:
    """Fill a row along y, faces at x = 0; returns objects with their middles (2,) and what is left of the order."""
    out: list[tuple[Placed, Array]] = []
    y, order = y_from, list(order)
    while order and len(out) < 12:
        slot = order[0]
        lies = int(slots[slot].may_lie and rng.random() < lying) * int(rng.integers(1, 3))
        yaw = rng.normal(0, turned) + np.pi / 2 * int(rng.integers(0, 4))
        one = stand(slot, slots, yaw, lies)
        width = one.support[6] + one.support[18]
        if y + width > y_to:
            break
        order.pop(0)
        out.append((one, np.array([one.support[12] + rng.uniform(0, 0.003), y + one.support[18]])))
        y += width + _gap(rng, touching)
        if rng.random() < 0.05:
            y += rng.uniform(0.03, 0.12)
    return out, order


def shelf_rows(
    slots: list[Slot],
    order: list[int],
    rng: np.random.Generator,
    *,
    width: float,
    depth: float,
    clear: float,
    touching: float = 0.85,
) -> tuple[list[Placed], list[int]]:
    """Fill one board, front edge at x = 0, top at z = 0, with one to three rows behind each other."""
    out: list[Placed] = []
    x = rng.uniform(0.0, 0.04)
    turned = float(rng.choice([0.01, 0.06, 0.2]))
    for _ in range(int(rng.integers(1, 4))):
        start = -width / 2 + rng.uniform(0, 0.15)
        order = [k for k in order if np.ptp(slots[k].points[:, 2]) < clear - 0.005]
        line, order = row(slots, order, rng, y_from=start, y_to=width / 2 - 0.005, touching=touching, turned=turned)
        reach = max((one.support[0] + one.support[12] for one, _ in line), default=0.0)
        if x + reach > depth:
            break
        back = rng.random() < 0.3
        for one, at in line:
            shift = x + (reach - one.support[0] - one.support[12] if back else 0.0)
            out.append(moved(one, np.array([at[0] + shift, at[1], 0.0])))
            if one.height < 0.6 * clear and slots[one.slot].carries and order and rng.random() < 0.3:
                top = stand(order[0], slots, rng.normal(0, 0.1), 0)
                if one.height + top.height < clear - 0.005 and (top.support < one.support + 0.012).all():
                    order.pop(0)
                    out.append(moved(top, np.array([at[0] + shift, at[1], one.height])))
        x += reach + _gap(rng, touching)
    return out, order


def cluster(
    slots: list[Slot],
    order: list[int],
    rng: np.random.Generator,
    *,
    count: int,
    touching: float,
    spread: float,
) -> tuple[list[Placed], list[int]]:
    """Push objects against each other on a table around the origin."""
    done: list[tuple[Placed, Array]] = []
    out: list[Placed] = []
    order = list(order)
    aligned = rng.random() < 0.4
    while order and len(done) < count:
        slot = order.pop(0)
        lies = int(slots[slot].may_lie and rng.random() < 0.22) * int(rng.integers(1, 3))
        yaw = np.pi / 2 * int(rng.integers(0, 4)) + rng.normal(0, 0.02) if aligned else rng.uniform(0, 2 * np.pi)
        one = stand(slot, slots, yaw, lies)
        angle = rng.uniform(0, 2 * np.pi)
        towards = np.array([np.cos(angle), np.sin(angle)])
        aim = done[int(rng.integers(0, len(done)))][1] if done else np.zeros(2)
        if rng.random() < touching:
            start = aim + rng.normal(0, 0.015, 2) - 1.5 * towards
            reach = contact(one, start, done, towards)
            if not np.isfinite(reach):
                reach = 1.5 if not done else np.inf
            at = start + towards * (reach - rng.uniform(0.0, 0.003)) if np.isfinite(reach) else None
        else:
            at = rng.uniform(-spread, spread, 2)
            start = at - 1e-6 * towards
            if contact(one, start, done, towards) == 0.0:
                at = None
        if at is None or np.abs(at).max() > spread:
            continue
        done.append((one, at))
        out.append(moved(one, np.array([*at, 0.0])))
        if slots[slot].carries and not lies and order and rng.random() < 0.15:
            top = stand(order.pop(0), slots, rng.uniform(0, 2 * np.pi), 0)
            out.append(moved(top, np.array([*at, one.height])))
    return out, order
