"""What counts as poured: enough of it, in a receiver that stands, at the time if the receiver is emptied later."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from armwright.assets.library import default_library
from armwright.core.pose import Array, Pose
from armwright.core.task import Primitive
from armwright.tasks.evidence import Evidence, ObjectEvidence
from armwright.tasks.pouring import PourWatch, poured
from armwright.tasks.predicates import Verdict

MODELS = {name: default_library().build(name, instance=3, attributes={}) for name in ("mug", "bowl", "pan")}
PLACES = {"mug": (0.4, 0.0, 0.3), "bowl": (0.5, 0.3, 0.0), "pan": (0.5, -0.3, 0.0)}
AWAY = np.array([0.9, 0.9, 0.0])


def middle(vessel: str) -> Array:
    cavity = MODELS[vessel].containers[0]
    x, y = cavity.center_m[:2]
    return np.array([x, y, 0.5 * (cavity.floor_z_m + cavity.rim_z_m)]) + PLACES[vessel]


def moment(
    *where: str, held: str | None = "mug", tilted: str | None = None, own: Sequence[str] = (), upset: float = 0.6
) -> Evidence:
    """Return a moment at which the mug's twenty beads are spread over vessels, five of them in each place named."""
    beads = {"mug": where, "bowl": own, "pan": ()}
    seen = {}
    for name, model in MODELS.items():
        turn = np.array([np.cos(upset / 2), np.sin(upset / 2), 0.0, 0.0])
        pose = Pose(np.array(PLACES[name]), turn if name == tilted else np.array([1.0, 0.0, 0.0, 0.0]))
        points = [middle(w) if w in MODELS else AWAY for w in beads[name] for _ in range(5)]
        seen[name] = ObjectEvidence(
            pose, 0.0, 0.0, frozenset(), name == held, name == held, model, contents_m=np.reshape(points, (-1, 3))
        )
    return Evidence(seen, Pose())


def pour(source: str, receiver: str) -> Primitive:
    return Primitive(name="pour", object=source, target=receiver, relation="in")


def judged(steps: Sequence[Primitive], *moments: Evidence) -> list[Verdict]:
    """Judge pours by moments, the last of which is the end."""
    watch = PourWatch(steps)
    for seen in moments:
        for index, source in watch.waiting.items():
            if seen.objects[source].held:
                watch.observe(seen, index)
    return [watch.judge(moments[-1], k, in_hand=True) for k in range(len(steps))]


IN_BOWL = ("bowl",) * 4
IN_PAN = ("pan",) * 4
CHAIN = (pour("mug", "bowl"), pour("bowl", "pan"))
SPLIT = (pour("mug", "bowl"), pour("mug", "pan"))


def test_the_receiver_must_stand():
    assert poured(moment(*IN_BOWL), "mug", "bowl").ok
    tilted = poured(moment(*IN_BOWL, tilted="bowl", upset=0.3), "mug", "bowl")
    assert not tilted.ok and "bowl is tilted by 17 deg" in tilted.detail
    assert poured(moment(*IN_BOWL, tilted="bowl", upset=0.2), "mug", "bowl").ok


def test_what_is_poured_on_was_in_the_first_receiver_at_the_time():
    first, second = judged(CHAIN, moment(*IN_BOWL), moment(*IN_PAN, held="bowl"))
    assert first.ok and second.ok, (first, second)


@pytest.mark.parametrize(
    ("moments", "right"),
    [
        ((moment(*IN_PAN, held="mug"), moment(*IN_PAN, held="bowl")), (False, False)),
        ((moment("bowl", "bowl", "mug", "mug"), moment("pan", "pan", "mug", "mug", held="bowl")), (False, False)),
        ((moment(*IN_BOWL), moment("pan", "pan", "bowl", "bowl", held="bowl")), (True, False)),
        ((moment(*IN_BOWL), moment("pan", "pan", "", "", held="bowl")), (True, False)),
        ((moment(*IN_BOWL, tilted="bowl"), moment(*IN_PAN, held="bowl")), (False, False)),
        ((moment(*IN_BOWL, held=None), moment(*IN_PAN, held="bowl")), (False, False)),
        ((moment(*IN_BOWL), moment(*IN_PAN, held="mug")), (True, False)),
    ],
    ids=["past the bowl", "half of it", "half stayed", "half spilled", "bowl tipped", "mug dropped", "bowl dropped"],
)
def test_near_misses_of_pouring_on(moments, right):
    assert tuple(v.ok for v in judged(CHAIN, *moments)) == right


def test_what_the_middle_vessel_held_itself_is_poured_on_as_well():
    start = moment(*IN_BOWL, own=IN_BOWL)
    assert judged(CHAIN, start, moment(*IN_PAN, held="bowl", own=IN_PAN))[1].ok
    assert not judged(CHAIN, start, moment(*IN_PAN, held="bowl", own=IN_BOWL))[1].ok
    assert not judged(CHAIN, start, moment(*IN_BOWL, held="bowl", own=IN_PAN))[1].ok


def test_one_source_into_two_receivers_fills_both_together():
    assert all(v.ok for v in judged(SPLIT, moment("bowl", "bowl", "pan", "pan")))
    assert all(v.ok for v in judged(SPLIT, moment("bowl", "bowl", "bowl", "pan")))
    assert not any(v.ok for v in judged(SPLIT, moment("bowl", "bowl", "pan", "")))
    first, second = judged(SPLIT, moment(*IN_BOWL))
    assert first.ok and not second.ok, "the second got nothing"


def test_two_pours_into_one_receiver_are_no_split():
    twice = (pour("mug", "bowl"), pour("mug", "bowl"))
    assert all(v.ok for v in judged(twice, moment(*IN_BOWL)))
    assert not any(v.ok for v in judged(twice, moment("bowl", "bowl", "mug", "mug")))
