"""Solve a scene: draw instances and poses until every relation holds, nothing overlaps and the arm can reach (§3.1)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from armwright.assets.beneath import room_under
from armwright.assets.catalog import category_info
from armwright.assets.contents import default_fill
from armwright.assets.footprint import Footprint
from armwright.assets.library import Library
from armwright.assets.model import Container, ObjectModel
from armwright.assets.parts import owner_of
from armwright.assets.placement import HEADROOM_M, TableBounds, placements
from armwright.assets.scene import ContentsSpec, ObjectSpec, ParsedTask, PoseSpec, Relation, SceneSpec
from armwright.core.errors import SceneError
from armwright.core.pose import Pose
from armwright.core.seeds import rng_for
from armwright.core.task import RelationName
from armwright.generate.shifts import SHORTEST_SHIFT_M, behind, shifts, strokes
from armwright.generate.swings import (
    Follow,
    can_swing,
    parts_off,
    start_joints,
    swept_footprint,
    swinging,
    with_lids_off,
)
from armwright.planning.types import Obstacle
from armwright.robots.spec import RobotSpec
from armwright.robots.station import station
from armwright.tasks.evidence import TABLE, Evidence, ObjectEvidence
from armwright.tasks.predicates import relation_holds

# Instances of a category that scenes draw from; a finite pool lets workers keep compiled scenes.
INSTANCES = 24
# Poses drawn before a scene is given up; the usual one takes one draw per object.
MAX_DRAWS = 2000
DRAWS_PER_OBJECT = 12
# Poses whose arc the arm cannot follow before a scene is given up: each is dear to look at, and where the hand finds
# no room around a handle no other pose helps.
MAX_ARCS = 40
# Room for an open finger between any two things.
MARGIN_M = 0.025
# Kept free along the table's edges, and between the arm's mounting and whatever stands on the table.
EDGE_M = 0.03
MOUNTING_M = 0.18
# Instances are drawn again up to this often where one could not be put where it is to go.
FIT_TRIES = 40
# Things larger than this stand at the side and face the arm, so that the work area stays free.
LARGE_M = 0.24

# The attribute of vessels that come with or without a lid, and its value without.
LID, NO_LID = "lid", "none"

NO_ARC = "the arm cannot follow its arc"

Reach = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Solved:
    """A scene with instances and poses, and what was thrown away on the way.

    Attributes:
        scene: Every object has an instance and a pose.
        objects: Id -> geometry.
        draws: Poses drawn in all.
        rejected: Reason -> count.
    """

    scene: SceneSpec
    objects: Mapping[str, ObjectModel]
    draws: int
    rejected: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Workspace:
    """The part of the table that a scene uses, seen from the arm's base at the origin [m].

    The defaults suit an arm that works best half a metre away; `of` makes that of a given arm.

    Attributes:
        x_m, y_m: Limits of the table top.
        window_m, window_rad: Polar position of the middle of the manipulated object's window.
        near_m, far_m: Distances between which references stand.
        spread_rad: Angles between which references stand.
        large_rad: Angle at which large things stand, facing the base.
        front_m: Distance of a large thing's front.
        swing_m, swing_rad: Nominal polar position of the front of what is opened or closed; it faces the base.
    """

    x_m: tuple[float, float] = field(default_factory=lambda: (MOUNTING_M, _table_limits_m()[0][1]))
    y_m: tuple[float, float] = field(default_factory=lambda: _table_limits_m()[1])
    window_m: float = 0.50
    window_rad: float = -0.30
    near_m: float = 0.40
    far_m: float = 0.62
    spread_rad: tuple[float, float] = (-0.1, 0.80)
    large_rad: tuple[float, float] = (0.62, 0.85)
    front_m: tuple[float, float] = (0.46, 0.52)
    swing_m: float = 0.62
    swing_rad: float = 0.35

    @classmethod
    def of(cls, spec: RobotSpec) -> Workspace:
        """Return the workspace around the distance at which an arm works best."""
        middle = float(np.hypot(*spec.workspace_center_m))
        return cls(
            window_m=middle,
            near_m=middle - 0.10,
            far_m=middle + 0.10,
            front_m=(middle - 0.06, middle + 0.01),
            swing_m=middle + 0.12,
        )


def _table_limits_m() -> tuple[tuple[float, float], tuple[float, float]]:
    return station().table_limits_m(margin_m=EDGE_M)


def uncovered(parsed: ParsedTask, library: Library) -> ParsedTask:
    """Take the lid off whatever has something in it, or is to get it, unless the sentence speaks of the lid."""
    spoken_of = {p.object for p in parsed.primitives if p.name in ("open", "close")}
    receivers = {r.object for r in parsed.scene.relations if r.relation == "in"}
    receivers |= {p.target for p in parsed.primitives if p.relation == "in" and p.target is not None}

    def bare(node: ObjectSpec) -> ObjectSpec:
        without = NO_LID in library.attribute_values(node.category, LID)
        if not without or LID in node.attributes or node.id not in receivers - spoken_of:
            return node
        return node.model_copy(update={"attributes": {**node.attributes, LID: NO_LID}})

    objects = tuple(bare(node) for node in parsed.scene.objects)
    return parsed.model_copy(update={"scene": parsed.scene.model_copy(update={"objects": objects})})


def draw_instances(parsed: ParsedTask, library: Library, seed: int) -> tuple[dict[str, ObjectModel], dict[str, int]]:
    """Draw an instance per object from the library, by the object's name and the seed.

    Where something could not be put where it is to go, such as a cube in a narrower cup, other instances are drawn.
    """
    models, instances = {}, {}
    draws = {node.id: rng_for(seed, "instance", node.id) for node in parsed.scene.objects}

    def draw(node: ObjectSpec) -> None:
        instances[node.id] = int(draws[node.id].integers(INSTANCES)) if node.instance is None else node.instance
        models[node.id] = library.build(node.category, instance=instances[node.id], attributes=node.attributes)

    for node in parsed.scene.objects:
        draw(node)
    for _ in range(FIT_TRIES):
        unfit = {object_id for pair in _misfits(parsed, models) for object_id in pair}
        if not any(node.id in unfit and node.instance is None for node in parsed.scene.objects):
            break
        for node in parsed.scene.objects:
            if node.id in unfit:
                draw(node)
    return models, instances


def _misfits(parsed: ParsedTask, models: Mapping[str, ObjectModel]) -> list[tuple[str, str]]:
    """Return the pairs of which the first can be put nowhere in its relation to the second, however the two stand."""
    goals = [(p.object, p.relation, p.target) for p in parsed.primitives if p.name == "place"]
    starts = [(r.subject, r.relation, r.object) for r in parsed.scene.relations]
    found = []
    for subject, relation, target in dict.fromkeys([*goals, *starts]):
        if target is None or target not in models or relation not in ("on", "in", "under"):
            continue
        if not _fits(models[subject], models[target], relation):
            found.append((subject, target))
    return found


def _fits(held: ObjectModel, target: ObjectModel, relation: RelationName) -> bool:
    """Say whether the first has any place in its relation to the second, which stands upright."""
    if _surely_fits(held, target, relation):
        return True
    return bool(placements(held, target, relation, rng=np.random.default_rng(0), n=1))


def _surely_fits(held: ObjectModel, target: ObjectModel, relation: str | None) -> bool:
    """Say whether a circle around the object fits a place of the target: no search is needed then."""
    low, high = held.bounds_m
    radius_m, height_m = 0.5 * float(np.hypot(*(high - low)[:2])), float(high[2] - low[2])
    if relation == "in":
        return any(min(c.half_extents_m) > radius_m for c in _open_above(target))
    if relation == "on":
        return any(min(s.half_extents_m) > radius_m and s.clearance_m > 2 * height_m for s in target.supports)
    return False


def _open_above(target: ObjectModel) -> list[Container]:
    """Return the cavities that are entered from above; those entered from the front are support surfaces as well."""
    fronts = {surface.name for surface in target.supports}
    return [c for c in target.containers if c.part not in fronts]


def poured_contents(parsed: ParsedTask, models: Mapping[str, ObjectModel]) -> dict[str, ContentsSpec]:
    """Return what each vessel that is to be poured holds, unless the scene says so itself.

    Raises:
        SceneError: Something to be poured is solid, closed or too small to hold anything.
    """
    found: dict[str, ContentsSpec] = {}
    for primitive in parsed.primitives:
        if primitive.name != "pour" or parsed.scene.object(primitive.object).contents is not None:
            continue
        fill = default_fill(models[primitive.object])
        if fill is None:
            category = models[primitive.object].category.replace("_", " ")
            raise SceneError(
                f"{primitive.object} cannot be poured: this {category} has no open cavity that holds anything.",
                hint="Pour from a mug, cup, kettle, pan, bowl, basket or another open vessel.",
            )
        found[primitive.object] = ContentsSpec(count=fill[0], radius_m=fill[1])
    return found


def check_room(parsed: ParsedTask, models: Mapping[str, ObjectModel]) -> None:
    """Refuse what can be put nowhere under its target, however the two stand.

    Raises:
        SceneError: There is no room under the target, or not enough; the message has the heights.
    """
    for primitive in parsed.primitives:
        below = models.get(primitive.target) if primitive.target is not None else None
        if primitive.relation != "under" or primitive.name != "place" or below is None:
            continue
        held, target = models[primitive.object], below
        if _fits(held, target, "under"):
            continue
        item, over = held.category.replace("_", " "), target.category.replace("_", " ")
        room_mm = 1000 * room_under(target).height_m
        tall_mm = 1000 * float(np.ptp(np.asarray(held.bounds_m)[:, 2]))
        if room_mm == 0:
            why = f"this {over} goes down to the ground and has no covered surface"
        elif tall_mm > room_mm - 1000 * HEADROOM_M:
            why = (
                f"the {item} is {tall_mm:.0f} mm tall, and there are {room_mm:.0f} mm of clear height, "
                f"of which {1000 * HEADROOM_M:.0f} stay free"
            )
        else:
            why = f"the {item} is too wide for the place there"
        raise SceneError(
            f"the {item} cannot be put under the {over}: {why}.",
            hint=f"Name something smaller, or put it on or next to the {over}.",
        )


def solve_scene(
    parsed: ParsedTask,
    library: Library,
    *,
    seed: int,
    reach: Reach,
    workspace: Workspace | None = None,
    follow: Follow | None = None,
) -> Solved:
    """Place every object by rejection sampling.

    Args:
        parsed: The sentence's meaning.
        library: Where instances come from.
        seed: Decides instances and poses.
        reach: (n, 3) points in the arm's base frame -> (n,) bool, whether a hand can get there.
        workspace: Where things may stand.
        follow: Whether the arm can follow the arc of what is opened or closed; None takes any arc.

    Raises:
        SceneError: No arrangement was found; the message names the object and the commonest reason.
    """
    space = workspace or Workspace()
    parsed = uncovered(parsed, library)
    models, instances = draw_instances(parsed, library, seed)
    check_room(parsed, models)
    contents = poured_contents(parsed, models)
    joints = start_joints(parsed, models, seed)
    whole, (parsed, models) = (parsed, models), with_lids_off(parsed, models)
    rng = rng_for(seed, "layout")
    rejected: Counter[str] = Counter()
    draws = 0
    order = _order(parsed, models)
    reference = {p.object: p for p in parsed.primitives if p.target}
    while draws < MAX_DRAWS and max(_arcs(rejected), default=0) < MAX_ARCS:
        poses: dict[str, Pose] = {}
        prints: dict[str, Footprint] = {}
        failed = ""
        for node in order:
            for _ in range(DRAWS_PER_OBJECT):
                draws += 1
                pose = _propose(node, parsed, models, poses, rng, space)
                reason = _refuse(node, pose, models, poses, prints, parsed, joints, reach, space)
                if not reason and pose is not None and follow is not None:
                    reason = _no_arc(node, pose, models, parsed, joints, follow)
                    reason = reason or _no_stroke(node, pose, models, poses, parsed, follow)
                if not reason:
                    break
                rejected[f"{node.id}: {reason}"] += 1
            else:
                failed = node.id
                break
            assert pose is not None
            poses[node.id] = pose
            prints[node.id] = _footprint(node, models, pose, parsed, joints)
        if failed:
            continue
        if not _targets_reachable(parsed, models, poses, reach):
            rejected["target: out of reach"] += 1
            continue
        nodes = tuple(
            node.model_copy(
                update={
                    "instance": instances[node.id],
                    "pose": PoseSpec.from_pose(poses[node.id]),
                    "contents": contents.get(node.id, node.contents),
                    "joints": joints.get(node.id, node.joints),
                    "parts": parts_off(node.id, poses) or node.parts,
                }
            )
            for node in whole[0].scene.objects
        )
        return Solved(whole[0].scene.model_copy(update={"objects": nodes}), whole[1], draws, dict(rejected))
    worst = rejected.most_common(1)[0][0] if rejected else "nothing could be drawn"
    raise SceneError(
        f"no arrangement of {', '.join(n.id for n in order)} was found in {draws} draws; most often {worst}.",
        hint="Name fewer or smaller objects, or drop a relation." if len(reference) < 6 else "Name fewer objects.",
    )


def _order(parsed: ParsedTask, models: Mapping[str, ObjectModel]) -> list[ObjectSpec]:
    """Supports before what stands on them, large before small, references before what is moved."""
    references: dict[str, list[str]] = {}
    for relation in parsed.scene.relations:
        references.setdefault(relation.subject, []).append(relation.object)

    def depth(object_id: str, seen: frozenset[str] = frozenset()) -> int:
        if object_id in seen:
            raise SceneError(f"the relations around {object_id} go in a circle.", hint="Say where one of them stands.")
        return max((1 + depth(r, seen | {object_id}) for r in references.get(object_id, ())), default=0)

    def size(object_id: str) -> float:
        low, high = models[object_id].bounds_m
        return float(np.prod((high - low)[:2]))

    return sorted(parsed.scene.objects, key=lambda n: (depth(n.id), n.manipulated, -size(n.id)))


def _is_large(model: ObjectModel) -> bool:
    low, high = model.bounds_m
    return model.static and float((high - low).max()) > LARGE_M


def _propose(
    node: ObjectSpec,
    parsed: ParsedTask,
    models: Mapping[str, ObjectModel],
    poses: Mapping[str, Pose],
    rng: np.random.Generator,
    space: Workspace,
) -> Pose | None:
    model = models[node.id]
    bottom = -float(model.bounds_m[0][2])
    relations = _relations_of(node.id, parsed)
    if relations and not _comes_from_afar(relations[0], parsed):
        relation = relations[0]
        found = placements(
            model,
            models[relation.object],
            relation.relation,
            rng=rng,
            n=6,
            pose_world_target=poses[relation.object],
            bounds=TableBounds(space.x_m, space.y_m),
        )
        return found[int(rng.integers(len(found)))].pose_world_object if found else None
    if swinging(parsed, node.id, models):
        window = parsed.scene.window
        front = -float(model.bounds_m[0][0])
        xy = _polar(space.swing_m + front, space.swing_rad) + rng.uniform(-0.5, 0.5, 2) * window.size_m
        yaw = space.swing_rad + np.deg2rad(rng.uniform(-0.5, 0.5) * window.yaw_deg)
        return Pose.from_yaw([*xy, bottom], yaw)
    if _is_large(model):
        angle = rng.uniform(*space.large_rad) * (1 if _side(node, parsed) else -1)
        front = -float(model.bounds_m[0][0])
        xy = _polar(rng.uniform(*space.front_m) + front, angle)
        return Pose.from_yaw([*xy, bottom], angle)
    if node.manipulated:
        window = parsed.scene.window
        movers = [n.id for n in parsed.scene.objects if n.manipulated]
        rank = movers.index(node.id)
        center = _polar(space.window_m, space.window_rad + 0.30 * rank)
        xy = center + rng.uniform(-0.5, 0.5, 2) * window.size_m
        yaw = _nominal_yaw(node) + np.deg2rad(rng.uniform(-0.5, 0.5) * window.yaw_deg)
        return Pose.from_yaw([*xy, bottom], yaw)
    xy = _polar(rng.uniform(space.near_m, space.far_m), rng.uniform(*space.spread_rad))
    return Pose.from_yaw([*xy, bottom], rng.uniform(-np.pi, np.pi) if not category_info(node.category).static else 0.0)


def _relations_of(object_id: str, parsed: ParsedTask) -> list[Relation]:
    """Return what the scene says of an object; what carries it comes first."""
    found = [r for r in parsed.scene.relations if r.subject == object_id]
    return sorted(found, key=lambda r: r.relation not in ("on", "in"))


def _comes_from_afar(relation: Relation, parsed: ParsedTask) -> bool:
    """Say whether something is pushed to what it stands beside: put there by the relation it would be there already."""
    return relation.relation not in ("on", "in") and any(
        p.name == "push" and (p.object, p.target) == (relation.subject, relation.object) for p in parsed.primitives
    )


def _carriers(object_id: str, parsed: ParsedTask) -> set[str]:
    """Return what an object is placed against and whatever carries that."""
    found: set[str] = set()
    relations = [r for r in _relations_of(object_id, parsed) if not _comes_from_afar(r, parsed)]
    while relations and relations[0].object not in found:
        found.add(relations[0].object)
        relations = [r for r in _relations_of(relations[0].object, parsed) if r.relation in ("on", "in")]
    return found


def _holds(relation: Relation, pose: Pose, models: Mapping[str, ObjectModel], poses: Mapping[str, Pose]) -> bool:
    """Say whether a relation beside the one that the pose was drawn for holds as well; what carries what is given."""
    stand = {relation.subject: pose, relation.object: poses[relation.object]}
    seen = {k: ObjectEvidence(p, 0.0, 0.0, frozenset({TABLE}), False, False, models[k]) for k, p in stand.items()}
    return relation_holds(Evidence(seen, Pose()), relation.subject, relation.relation, relation.object).ok


def _side(node: ObjectSpec, parsed: ParsedTask) -> bool:
    """Large things alternate between the left and the right side of the arm."""
    large = [n.id for n in parsed.scene.objects if category_info(n.category).static]
    return large.index(node.id) % 2 == 0 if node.id in large else True


def _nominal_yaw(node: ObjectSpec) -> float:
    """Handles (an object's +x) point to the arm's right, where nothing else stands."""
    return -np.pi / 2 if "Graspable Handle" in category_info(node.category).regions else 0.0


def _refuse(
    node: ObjectSpec,
    pose: Pose | None,
    models: Mapping[str, ObjectModel],
    poses: Mapping[str, Pose],
    prints: Mapping[str, Footprint],
    parsed: ParsedTask,
    joints: Mapping[str, Mapping[str, float]],
    reach: Reach,
    space: Workspace,
) -> str:
    if pose is None:
        return "no place in that relation"
    mine = _footprint(node, models, pose, parsed, joints)
    if not TableBounds(space.x_m, space.y_m).contains(Footprint.from_model(models[node.id], pose).outline_m):
        return "off the table"
    relations = _relations_of(node.id, parsed)
    given = 0 if relations and _comes_from_afar(relations[0], parsed) else 1
    if not all(_holds(relation, pose, models, poses) for relation in relations[given:]):
        return "the relations do not hold together"
    for swept, goal in shifts(node.id, parsed, models, {**poses, node.id: pose}):
        if not TableBounds(space.x_m, space.y_m).contains(swept.outline_m):
            return "pushed off the table"
        if float(np.linalg.norm(goal[:2] - mine.center_m)) < SHORTEST_SHIFT_M:
            return "there already"
        if not bool(reach(goal[None])[0]):
            return "the goal is out of reach"
        if not _is_pushed(node, parsed) and not bool(reach(behind(node.id, parsed, mine, goal)[None])[0]):
            return "the hand cannot get to it"
        mine = swept
    carried = _carriers(node.id, parsed)
    for other, other_print in prints.items():
        if other not in carried and mine.overlaps(other_print, margin_m=MARGIN_M):
            return "overlap"
    if (node.manipulated or _is_seat(node.id, models)) and not swinging(parsed, node.id, models):
        low, high = models[node.id].bounds_m
        middle = pose.transform(0.5 * (low + high))
        if not bool(reach(middle[None])[0]):
            return "out of reach"
    return ""


def _footprint(
    node: ObjectSpec,
    models: Mapping[str, ObjectModel],
    pose: Pose,
    parsed: ParsedTask,
    joints: Mapping[str, Mapping[str, float]],
) -> Footprint:
    """Outline what an object covers, with what its leaves sweep if the task moves them."""
    steps = swinging(parsed, node.id, models)
    return swept_footprint(models[node.id], pose, steps, joints.get(node.id, node.joints))


def _is_seat(object_id: str, models: Mapping[str, ObjectModel]) -> bool:
    """Tell whether something that was laid aside is to be put on an object."""
    return any(owner_of(other) == (object_id, link) for other in models if (link := owner_of(other)[1]))


def _arcs(rejected: Mapping[str, int]) -> list[int]:
    return [count for reason, count in rejected.items() if reason.endswith(NO_ARC)]


def _no_arc(
    node: ObjectSpec,
    pose: Pose,
    models: Mapping[str, ObjectModel],
    parsed: ParsedTask,
    joints: Mapping[str, Mapping[str, float]],
    follow: Follow,
) -> str:
    steps = swinging(parsed, node.id, models)
    if not steps or can_swing(models[node.id], pose, steps, joints.get(node.id, node.joints), follow):
        return ""
    return NO_ARC


def _is_pushed(node: ObjectSpec, parsed: ParsedTask) -> bool:
    step = next((p for p in parsed.primitives if p.object == node.id and p.name in ("push", "pull")), None)
    return step is not None and step.name == "push"


def _no_stroke(
    node: ObjectSpec,
    pose: Pose,
    models: Mapping[str, ObjectModel],
    poses: Mapping[str, Pose],
    parsed: ParsedTask,
    follow: Follow,
) -> str:
    """Say so if the arm cannot get behind what it is to push, and go on to its end, clear of what stands already."""
    if not _is_pushed(node, parsed):
        return ""
    own = Footprint.from_model(models[node.id], pose)
    standing = [
        Obstacle(f"{other}/{link.name}", at, link.hulls)
        for other, at in poses.items()
        for link in models[other].links
        if link.hulls and link.joint is None
    ]
    for _, goal in shifts(node.id, parsed, models, {**poses, node.id: pose}):
        if not follow(strokes(behind(node.id, parsed, own, goal), goal, own), standing):
            return "the hand cannot push it there"
    return ""


def _targets_reachable(
    parsed: ParsedTask, models: Mapping[str, ObjectModel], poses: Mapping[str, Pose], reach: Reach
) -> bool:
    points = []
    for primitive in parsed.primitives:
        if primitive.target is None or primitive.target not in poses:
            continue
        model = models[primitive.target]
        if model.supports and primitive.relation == "on":
            points.append([poses[primitive.target].transform(s.pose_object_surface.position_m) for s in model.supports])
        else:
            points.append([poses[primitive.target].transform(0.5 * np.sum(model.bounds_m, axis=0))])
    lift = np.array([0.0, 0.0, 0.08])
    return all(bool(reach(np.array(group) + lift).any()) for group in points)


def _polar(radius_m: float, angle_rad: float) -> np.ndarray:
    """Return (2,) x, y at a distance and angle from the arm's base."""
    return np.array([radius_m * np.cos(angle_rad), radius_m * np.sin(angle_rad)])
