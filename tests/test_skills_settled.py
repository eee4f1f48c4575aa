"""Places in a container from which a thing comes to lie inside: all that are offered, or all where there are none."""

import numpy as np

from armwright.assets.footprint import Footprint
from armwright.assets.placement import MARGIN_M, placements
from armwright.assets.rolling import tilted_rad
from armwright.core.pose import Pose
from armwright.planning.settling import Settling
from armwright.skills.places import placement_poses
from armwright.skills.settled import FLAT_RAD, off_centre, rights_itself, settled_inside
from skill_scenes import bench


def test_a_carrot_longer_than_the_bowl_is_offered_only_where_it_balances_inside(session_of):
    stage = bench(session_of("franka"), carrot="carrot", bowl="bowl", instance=0)
    ctx, models = stage.ctx, stage.models
    bowl = (models["bowl"], ctx.scene.pose_world("bowl"))
    stand = ctx.scene.pose_world("carrot")
    drawn = placements(
        models["carrot"],
        bowl[0],
        "in",
        rng=np.random.default_rng(0),
        n=72,
        pose_world_held=stand,
        pose_world_target=bowl[1],
    )
    settling = Settling(models["carrot"], [bowl])

    def off(pose: Pose) -> float:
        return off_centre(models["carrot"], settling.rest(pose), *bowl)

    assert sum(off(p.pose_world_object) >= 1.0 for p in drawn) > 10, "most ways end with it across the rim"
    offered = placement_poses(ctx, "carrot", "bowl", "in", stand=stand)
    assert offered and all(off(pose) < 1.0 for pose in offered)


def test_where_nothing_will_lie_inside_all_places_are_left(session_of):
    stage = bench(session_of("franka"), leek="leek", bowl="bowl", instance=0)
    found = placements(
        stage.models["leek"],
        stage.models["bowl"],
        "in",
        rng=np.random.default_rng(0),
        n=6,
        pose_world_target=stage.ctx.scene.pose_world("bowl"),
    )
    assert found and settled_inside(stage.ctx, "leek", "bowl", found, most=4) == found[:4]


def test_beside_what_lies_on_a_plate_a_thing_is_put_where_it_lies_flat_and_a_finger_passes(session_of):
    """A carrot that was laid against a banana rolled up onto it, and no finger fitted between them."""
    stage = bench(
        session_of("franka"),
        places={"plate": (0.5, 0.2), "banana": (0.5, 0.25, 0.045)},
        carrot="carrot",
        plate="plate",
        banana="banana",
        instance=0,
    )
    ctx, models = stage.ctx, stage.models
    around = [(models[o], ctx.scene.pose_world(o)) for o in ("plate", "banana")]
    settling = Settling(models["carrot"], around)
    offered = placement_poses(ctx, "carrot", "plate", "on", stand=ctx.scene.pose_world("carrot"))
    banana = Footprint.from_model(*around[1])

    def tilt(pose: Pose) -> float:
        return tilted_rad(models["carrot"], settling.rest(pose), pose.inverse().rotate([0.0, 0.0, 1.0]))

    assert len(offered) > 3 and all(tilt(pose) < FLAT_RAD for pose in offered)
    margin_m = MARGIN_M + ctx.gripper.finger_thickness_m
    assert not Footprint.from_model(models["carrot"], offered[0]).overlaps(banana, margin_m=margin_m)


def test_a_bowl_that_hangs_askew_rights_itself_and_a_bottle_falls_over(session_of):
    stage = bench(session_of("franka"), bowl="bowl", bottle="bottle")
    askew = Pose([0.0, 0.0, 0.1], [np.cos(0.16), np.sin(0.16), 0.0, 0.0])
    assert rights_itself(stage.ctx, "bowl", askew, meant=Pose())
    assert not rights_itself(
        stage.ctx, "bottle", Pose(askew.position_m, [np.cos(0.3), np.sin(0.3), 0, 0]), meant=Pose()
    )
