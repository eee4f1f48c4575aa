"""Which grasps and places go together: 1_feas(g, p), S(g, p), and what ruled out how many pairs (OMAR §IV-C, D)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from armwright.core.pose import Array, Pose
from armwright.grasping.types import GraspCandidate
from armwright.planning.backend import PlanningBackend
from armwright.planning.types import WorldSpec
from armwright.robots.kinematics import Kinematics
from armwright.robots.spec import GripperSpec
from armwright.shelf import _hand_kernels as kernel
from armwright.shelf.candidates import Candidates
from armwright.shelf.obstacles import MapObstacles
from armwright.shelf.placings import Placing, placings
from armwright.shelf.records import Orientation
from armwright.shelf.target_solids import Solid
from armwright.skills.frames import pose_tool_pads
from armwright.skills.rank import known_opening

Check = Literal[
    "grasp_unreachable",
    "grasp_collides",
    "no_way_in",
    "not_from_the_front",
    "fingers_would_drag_it",
    "hand_meets_a_neighbour",
    "hand_meets_the_shelf",
    "place_unreachable",
    "arm_collides",
    "not_looked_at",
]
FROM_FRONT = 0.35
"""Least component into the shelf of the hand's approach: under a board there is no other way in."""
DRAG = 0.35
"""Largest component into the shelf of the closing axis: a finger behind the target would drag it out again."""
RELEASE_M = 0.008
"""Added to the opening when the target is let go."""
GRASP_SEEDS, PLACE_SEEDS = 12, 8
BRANCHES = 3
WAYS = 2
"""Ways of standing tried per pair."""
BATCH = 384
MOST_IK = 2600
"""Pairs whose configurations are looked for at most, best first: about a second."""
ENOUGH = 160
"""Feasible pairs after which no further ones are looked for."""
OVER_M = (0.010, 0.03, 0.055, 0.08, 0.105, 0.13, 0.155)
"""Heights above its place at which the target is brought in, the lowest that clears what stands before it."""
LANE_STEP_M, LANE_STEPS = 0.035, 9
"""Where the hand is looked at on its way in: until it is out of the deepest shelf."""
ROOM_M = 0.003
"""Kept between the target and everything else on its way in."""
_TOLERANCE_M = 0.001


@dataclass(frozen=True, eq=False)
class Pair:
    """A grasp and a place that go together.

    Attributes:
        grasp, place: Their numbers.
        score: S(g, p).
        pose_target_tool: The tool in the target's frame.
        pose_base_placed: The target's frame when it stands there.
        over_m: How high above its place the target is brought in.
        grasp_rad, place_rad: (k, n) configurations that grasp it, and that hold it there.
    """

    grasp: int
    place: int
    score: float
    pose_target_tool: Pose
    pose_base_placed: Pose
    over_m: float
    grasp_rad: Array
    place_rad: Array


@dataclass(frozen=True, eq=False)
class Feasibility:
    """What came of all pairs.

    Attributes:
        table: S(g, p), 0 where a pair is not feasible (g, p).
        pairs: Those that are, best first.
        ruled_out: Check -> how many pairs it ruled out, in the order of the checks.
        grasps, places: How many of each.
    """

    table: Array
    pairs: tuple[Pair, ...]
    ruled_out: Mapping[Check, int]
    grasps: int
    places: int

    def summary(self) -> str:
        """Say in a sentence how many pairs are left and what ruled out the others."""
        return joined([self])


def joined(rounds: Sequence[Feasibility]) -> str:
    """Say the same of several batches of places with the same grasps."""
    counts: Counter[str] = Counter()
    for one in rounds:
        counts.update(one.ruled_out)
    rows = ", ".join(f"{n} {name.replace('_', ' ')}" for name, n in counts.most_common() if n)
    grasps, places = max(r.grasps for r in rounds), sum(r.places for r in rounds)
    whole = f"{grasps} grasps x {places} places"
    if not grasps or not places:
        return f"{whole}: there is nothing to choose from"
    left = sum(len(r.pairs) for r in rounds)
    return f"{whole}: {left} pairs are feasible" + (f"; ruled out: {rows}" if rows else "")


def feasible_pairs(
    planner: PlanningBackend,
    gripper: GripperSpec,
    solid: Solid,
    grasps: Sequence[GraspCandidate],
    candidates: Candidates,
    places: Sequence[int],
    semantic: Array,
    *,
    pose_base_target: Pose,
    pose_base_shelf: Pose,
    start_rad: Array,
    obstacles: MapObstacles,
    as_found: Orientation = "upright",
    front_known: bool = False,
    most_ik: int = MOST_IK,
    enough: int = ENOUGH,
) -> Feasibility:
    """Judge every grasp with every place.

    A pair is feasible if the grasp can be reached without touching anything, the hand comes from the shelf's front,
    neither hand nor fingers touch a neighbour or the shelf at the place, and the arm reaches it free of collisions.
    Paths are not planned here. Poses are in the arm's base frame; the shelf stands upright.

    Args:
        planner: The arm; its world is replaced.
        gripper: The hand.
        solid: The target.
        grasps: Of the target, with G_qual.
        candidates: Free places, in the shelf frame.
        places: Which of them to consider.
        semantic: P_sem of all candidates.
        pose_base_target, pose_base_shelf: Where target and shelf are.
        start_rad: Where the arm is now.
        obstacles: What stands where.
        as_found: How the target stands in its own frame.
        front_known: Its -x side is known to be its front.
        most_ik: Pairs whose configurations are looked for at most.
        enough: Feasible pairs after which the search ends.
    """
    ruled: Counter[Check] = Counter()
    grid = (len(grasps), len(places))
    tools = [g.pose_object_pads @ pose_tool_pads(gripper, g.width_m).inverse() for g in grasps]
    held = _reachable(
        planner, gripper, grasps, tools, pose_base_target, start_rad, obstacles.with_target(), ruled, grid[1]
    )
    worth = np.zeros(grid)
    quality = np.array([g.quality for g in grasps])
    worth[:] = quality[:, None] * semantic[list(places)][None] if len(grasps) and len(places) else 0.0
    over = ways_in(candidates, places, obstacles)
    ruled["no_way_in"] = int(np.isnan(over).sum()) * len(held)
    entered = [p for p in range(len(places)) if np.isfinite(over[p])]
    ways = _ways(
        solid, tools, grasps, held, [candidates.orientation[places[p]] for p in entered], as_found, front_known, ruled
    )
    foot = np.stack([_foot(candidates, i) for i in places]) if len(places) else np.zeros((0, 3))
    options = _clear(planner.kinematics, gripper, ways, candidates, places, entered, foot, over, obstacles, ruled)
    planner.set_world(obstacles.without_target())
    found = _placed(planner, gripper, options, worth, foot, over, pose_base_shelf, start_rad, ruled, (most_ik, enough))
    table = np.zeros(grid)
    pairs = []
    for (g, p), (placing, joints) in found.items():
        placed = pose_base_shelf @ Pose.from_rotation(placing.rotation, foot[p] + placing.offset_m)
        table[g, p] = worth[g, p]
        pairs.append(Pair(g, int(places[p]), float(worth[g, p]), tools[g], placed, float(over[p]), held[g], joints))
    pairs.sort(key=lambda pair: -pair.score)
    return Feasibility(table, tuple(pairs), dict(ruled), *grid)


def ways_in(candidates: Candidates, places: Sequence[int], obstacles: MapObstacles) -> Array:
    """Return how high above each place the target can be brought in straight from the front, nan for nowhere (p,) [m].

    It goes in level, and down at the place; it may pass over what stands before it, as far as the board above allows.
    """
    low, high, _ = obstacles.boxes()
    out = np.full(len(places), np.nan)
    for p, i in enumerate(places):
        a, b = candidates.low_m[i].copy(), candidates.high_m[i].copy()
        a[:2] -= ROOM_M
        b[:2] += ROOM_M
        for over in OVER_M:
            lane_low = np.array([-1.0, a[1], a[2] + over - ROOM_M])
            lane_high = b + np.array([0.0, 0.0, over + ROOM_M])
            drop_low, drop_high = a + np.array([0.0, 0.0, ROOM_M]), lane_high
            hits = ((lane_low < high) & (lane_high > low)).all(1) | ((drop_low < high) & (drop_high > low)).all(1)
            if not hits.any():
                out[p] = over
                break
    return out


def choose_places(score: Array, order: NDArray[np.intp], *, most: int = 60) -> list[int]:
    """Return up to ``most`` candidates, in turn from each level of P_sem, so that one proposal does not take all.

    Args:
        score: P_sem of all candidates.
        order: Candidates with P_sem above 0, best first (`fit.order_candidates`).
        most: How many.
    """
    levels: dict[float, list[int]] = {}
    for i in order:
        levels.setdefault(round(float(score[i]), 9), []).append(int(i))
    share = -(-most // max(len(levels), 1))
    chosen = [i for rows in levels.values() for i in rows[:share]]
    rest = [i for rows in levels.values() for i in rows[share:]]
    return [*chosen, *rest[: max(0, most - len(chosen))]][:most]


@dataclass(frozen=True, eq=False)
class _Way:
    """A grasp with one way of standing: the tool in the shelf frame, from the middle of the place's footprint."""

    grasp: int
    placing: Placing
    turn: Array
    offset_m: Array
    opening_m: float
    orientation: Orientation


def _reachable(
    planner: PlanningBackend,
    gripper: GripperSpec,
    grasps: Sequence[GraspCandidate],
    tools: Sequence[Pose],
    pose_base_target: Pose,
    start_rad: Array,
    world: WorldSpec,
    ruled: Counter[Check],
    places: int,
) -> dict[int, Array]:
    """Return grasp -> configurations (k, n) that grasp the target where it is and touch nothing else."""
    if not grasps:
        return {}
    planner.detach()
    planner.set_world(world)
    poses = np.stack([(pose_base_target @ tool).matrix() for tool in tools])
    found = planner.ik(poses, seeds=start_rad[None], n_seeds=GRASP_SEEDS, max_solutions=BRANCHES)
    ruled["grasp_unreachable"] = int((found.count == 0).sum()) * places
    held: dict[int, Array] = {}
    gaps = np.array([known_opening(g.opening_m, gripper.opening_m[1]) for g in grasps])
    for gap in np.unique(gaps):
        rows = np.flatnonzero((gaps == gap) & (found.count > 0))
        owner = np.repeat(rows, found.count[rows])
        if not len(owner):
            continue
        joints = np.concatenate([found.q_rad[i, : found.count[i]] for i in rows])
        planner.set_opening(float(gap))
        free = planner.check(joints, without_targets=True)
        for i in rows:
            own = joints[(owner == i) & free]
            if len(own):
                held[int(i)] = own
    ruled["grasp_collides"] = int((found.count > 0).sum() - len(held)) * places
    return held


def _ways(
    solid: Solid,
    tools: Sequence[Pose],
    grasps: Sequence[GraspCandidate],
    held: Mapping[int, Array],
    orientations: Sequence[Orientation],
    as_found: Orientation,
    front_known: bool,
    ruled: Counter[Check],
) -> list[_Way]:
    """Return each grasp with each way of standing in which the hand comes from the front and can leave again."""
    wanted = Counter(orientations)
    found: list[_Way] = []
    for g in held:
        tool = tools[g]
        level = tool.rotation[:2, 2]
        for orientation, count in wanted.items():
            toward = -float(np.arctan2(level[1], level[0])) if np.linalg.norm(level) > 0.1 else 0.0
            suited: list[_Way] = []
            drags = False
            for placing in placings(solid, as_found, orientation, front_known=front_known, toward_rad=toward):
                turn = placing.rotation @ tool.rotation
                if turn[0, 2] < FROM_FRONT:
                    continue
                if abs(turn[0, 1]) > DRAG:
                    drags = True
                    continue
                offset = placing.rotation @ tool.position_m + placing.offset_m
                suited.append(_Way(g, placing, turn, offset, grasps[g].width_m + RELEASE_M, orientation))
            found += suited
            if not suited:
                ruled["fingers_would_drag_it" if drags else "not_from_the_front"] += count
    return found


def _clear(
    kinematics: Kinematics,
    gripper: GripperSpec,
    ways: Sequence[_Way],
    candidates: Candidates,
    places: Sequence[int],
    entered: Sequence[int],
    foot: Array,
    over_m: Array,
    obstacles: MapObstacles,
    ruled: Counter[Check],
) -> dict[tuple[int, int], list[_Way]]:
    """Return (grasp, place) -> the ways in which the hand touches neither neighbours nor shelf, there or on the way."""
    if not ways or not len(entered):
        return {}
    widest = gripper.opening_m[1]
    gaps = sorted({known_opening(w.opening_m, widest) for w in ways})
    ball, radius = _hand_spheres(kinematics, gaps)
    low, high, structure = obstacles.boxes()
    seen = kernel.meets(
        np.stack([w.turn for w in ways]),
        np.stack([w.offset_m for w in ways]),
        np.array([gaps.index(known_opening(w.opening_m, widest)) for w in ways]),
        ball,
        radius - _TOLERANCE_M,
        _lanes(foot[list(entered)], over_m[list(entered)]),
        low,
        high,
        structure,
    )
    seen = seen.reshape(len(ways), len(entered), -1).max(2)
    column = {p: k for k, p in enumerate(entered)}
    options: dict[tuple[int, int], list[_Way]] = {}
    blocked: dict[tuple[int, int], int] = {}
    suits = {o: [p for p in entered if candidates.orientation[places[p]] == o] for o in {w.orientation for w in ways}}
    for row, way in enumerate(ways):
        for p in suits[way.orientation]:
            key = (way.grasp, p)
            what = int(seen[row, column[p]])
            if what == kernel.CLEAR:
                options.setdefault(key, []).append(way)
            else:
                # The way that gets farthest says what stops a pair.
                blocked[key] = min(blocked.get(key, what), what)
    for key, what in blocked.items():
        if key not in options:
            ruled["hand_meets_the_shelf" if what == kernel.STRUCTURE else "hand_meets_a_neighbour"] += 1
    return options


def _lanes(foot: Array, over_m: Array) -> Array:
    """Return where the middle of the target's footprint is at each place and on the way in ((1 + k) p, 3) [m]."""
    steps = np.arange(0, LANE_STEPS) * LANE_STEP_M
    way = np.stack([-steps, np.zeros(LANE_STEPS), np.zeros(LANE_STEPS)], 1)
    raised = foot[:, None] + way[None] + np.array([0.0, 0.0, 1.0]) * over_m[:, None, None]
    return np.concatenate([foot[:, None], raised], 1).reshape(-1, 3)


def _placed(
    planner: PlanningBackend,
    gripper: GripperSpec,
    options: Mapping[tuple[int, int], Sequence[_Way]],
    worth: Array,
    foot: Array,
    over_m: Array,
    pose_base_shelf: Pose,
    start_rad: Array,
    ruled: Counter[Check],
    limits: tuple[int, int],
) -> dict[tuple[int, int], tuple[Placing, Array]]:
    """Return (grasp, place) -> how it stands there, and configurations (k, n) that hold it there; best pairs first."""
    keys = sorted(options, key=lambda key: -worth[key])
    found: dict[tuple[int, int], tuple[Placing, Array]] = {}
    seeds = [start_rad]
    looked = 0
    while looked < min(len(keys), limits[0]) and len(found) < limits[1]:
        batch = keys[looked : looked + BATCH]
        looked += len(batch)
        ways = [(key, way) for key in batch for way in options[key][:WAYS]]
        poses = np.stack(
            [
                (pose_base_shelf @ Pose.from_rotation(way.turn, foot[key[1]] + way.offset_m)).matrix()
                for key, way in ways
            ]
        )
        solved = planner.ik(poses, seeds=np.stack(seeds[-3:]), n_seeds=PLACE_SEEDS, max_solutions=BRANCHES)
        reached = {ways[i][0] for i in np.flatnonzero(solved.count)}
        ruled["place_unreachable"] += len(batch) - len(reached)
        gaps = np.array([known_opening(way.opening_m, gripper.opening_m[1]) for _, way in ways])
        for gap in np.unique(gaps):
            planner.set_opening(float(gap))
            rows = [int(i) for i in np.flatnonzero((gaps == gap) & (solved.count > 0))]
            if not rows:
                continue
            joints = np.concatenate([solved.q_rad[i, : solved.count[i]] for i in rows])
            owner = np.repeat(rows, solved.count[rows])
            free = planner.check(joints)
            for i in rows:
                own = _raised(planner, joints[(owner == i) & free], float(over_m[ways[i][0][1]]))
                if len(own) and ways[i][0] not in found:
                    found[ways[i][0]] = ways[i][1].placing, own
                    seeds.append(own[0])
        ruled["arm_collides"] += sum(key not in found for key in reached)
    ruled["not_looked_at"] = len(keys) - looked
    return found


def _raised(planner: PlanningBackend, joints: Array, over_m: float) -> Array:
    """Return the configurations from which the arm can be raised straight to where the target is brought in."""
    kept = []
    for q in joints:
        pose = planner.fk(q[None])[0]
        pose[2, 3] += over_m
        if planner.linear(q, pose).ok:
            kept.append(q)
    return np.array(kept)


def _hand_spheres(kinematics: Kinematics, gaps: Sequence[float]) -> tuple[Array, Array]:
    """Return the spheres of gripper and last link in the tool frame, at each gap (k, s, 3), (k, s) [m]."""
    back = Pose.from_matrix(kinematics.tool).inverse()
    sets = [kinematics.spheres_at(gap) for gap in gaps]
    rows = [s.link == kinematics.dof for s in sets]
    ball = np.stack([back.transform(s.center_m[own]) for s, own in zip(sets, rows, strict=True)])
    return ball, np.stack([s.radius_m[own] for s, own in zip(sets, rows, strict=True)])


def _foot(candidates: Candidates, index: int) -> Array:
    """Return the middle of a place's footprint in the shelf frame (3,) [m]."""
    low, high = candidates.low_m[index], candidates.high_m[index]
    return np.array([(low[0] + high[0]) / 2, (low[1] + high[1]) / 2, low[2]])
