"""Places in a container from which a thing comes to lie inside: all that are offered, or all where there are none."""

import numpy as np

from armwright.assets.placement import placements
from armwright.core.pose import Pose
from armwright.planning.settling import Settling
from armwright.skills.place import placement_poses
from armwright.skills.settled import off_centre, settled_inside
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
