"""What stands, or is to stand, in a microwave: where a hand gets to it, how it is grasped there and let go."""

from __future__ import annotations

import numpy as np

from armwright.affordance.oracle import OracleAffordance
from armwright.affordance.protocol import ObjectCloud
from armwright.assets.articulation import joint_motion
from armwright.assets.cloud import sample_cloud
from armwright.assets.library import default_library
from armwright.assets.placement import is_entered_from_front, placements
from armwright.core.pose import Pose
from armwright.core.task import AffordanceQuery
from armwright.grasping.request import GraspRequest
from armwright.grasping.sources import grasp_source
from armwright.grasping.types import GraspCandidate
from armwright.robots.registry import load_spec
from armwright.skills.context import Held
from armwright.skills.place import TURNED_RAD, _as_it_hangs
from armwright.skills.rank import tool_pose
from skill_scenes import bench

MICROWAVE = default_library().build("microwave", instance=1)
BOWL = default_library().build("bowl", instance=1)
RIM = AffordanceQuery(object="bowl", region="Graspable Rim", role="grasp")


def within() -> list[Pose]:
    return [p.pose_world_object for p in placements(BOWL, MICROWAVE, "in", rng=np.random.default_rng(0), n=36)]


def test_cavities_are_told_apart_by_where_they_are_entered():
    assert is_entered_from_front(MICROWAVE) and not is_entered_from_front(BOWL)
    assert not is_entered_from_front(default_library().build("basket", instance=1))


def test_the_first_places_in_a_microwave_are_by_its_opening():
    (inside,) = MICROWAVE.containers
    front = inside.center_m[0] - inside.half_extents_m[0]
    edges = [float(pose.transform(BOWL.root.vertices_m)[:, 0].min()) - front for pose in within()]
    assert len(edges) > 24 and max(edges[:12]) < 0.03 and min(edges) >= 0.015
    yaws = {round(float(np.arctan2(pose.rotation[1, 0], pose.rotation[0, 0])), 2) for pose in within()}
    assert len(yaws) > 12


def test_under_a_roof_a_hand_finds_a_grasp_with_a_short_way_in():
    stand = within()[0]
    cloud = sample_cloud(BOWL, 8192, rng=np.random.default_rng(0))
    seen = ObjectCloud("bowl", "bowl", cloud.points_m, cloud.normals, cloud.part, cloud.link)
    door = MICROWAVE.links[1]
    poses = {"base": Pose(), "door": joint_motion(door.joint, 0.9 * door.joint.range[1])}
    hulls = tuple(
        (stand.inverse() @ poses[link.name]).transform(hull) for link in MICROWAVE.links for hull in link.hulls
    )

    def found(*, short: bool) -> int:
        request = GraspRequest(
            seen.points_m,
            seen.normals,
            OracleAffordance().predict(seen, RIM).mask,
            load_spec("franka").gripper,
            support_plane=np.array([0.0, 0.0, 1.0, stand.position_m[2]]),
            obstacles=hulls,
            thorough=True,
            short=short,
        )
        return len(grasp_source("oracle").sample(request).candidates)

    assert found(short=True) > 50 > found(short=False)


def test_what_turned_in_the_hand_is_let_go_as_it_hangs_with_the_hand_as_it_was_meant(session_of):
    ctx = bench(session_of("franka"), bowl="bowl").ctx
    pads = Pose(np.array([0.06, 0.0, 0.05]), np.array([0.0, 1.0, 0.0, 0.0]))
    candidate = GraspCandidate(pads, 0.01, 0.02, np.zeros(3), np.zeros(3), 0, 0, 1.0, 1.0)
    meant = tool_pose(ctx, candidate)

    def hung(angle: float) -> list[Pose]:
        turn = Pose(np.zeros(3), np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0]))
        held = Held("bowl", meant.inverse() @ turn, candidate, RIM, Pose())
        poses = _as_it_hangs(ctx, held, [Pose(np.array([0.5, 0.1, 0.03]))])
        for pose in poses:
            tool = pose @ held.pose_tool_object.inverse()
            assert tool.angle_to(meant) < 1e-6 and abs(tool.position_m[2] - meant.position_m[2] - 0.03) < 0.02
            low = pose.transform(ctx.scene.model("bowl").root.vertices_m)[:, 2].min()
            assert abs(low - 0.03) < 1e-9
        return poses

    assert len(hung(0.15)) == 1 and len(hung(TURNED_RAD + 0.01)) == 1 and hung(2.5) == []
