"""Success stage by stage: what one rollout's record says of each, and the rates over many rollouts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from armwright.core.task import Primitive
from armwright.recording.result import wilson
from armwright.tasks.stages import names_of, stage_text

if TYPE_CHECKING:
    from armwright.generate.episode import Episode


def unreached(primitives: Sequence[Primitive]) -> list[dict[str, Any]]:
    """Return the stages of a rollout that never began."""
    return [_stage(p, reached=False, ok=False, predicates=(), reason="") for p in primitives]


def stage_outcomes(episode: Episode) -> list[dict[str, Any]]:
    """Return, for each primitive of an episode, whether it was reached, whether it holds, and why not.

    A stage holds when its predicates hold at the end of the episode, as the judge grades them. One that was not
    reached does not, whatever the scene looks like.
    """
    primitives = episode.request.parsed.primitives
    reports = episode.stages[: len(episode.times_s)]
    found = []
    for index, (primitive, graded) in enumerate(zip(primitives, episode.graded.stages, strict=True)):
        reached = index < len(reports)
        ok = reached and bool(graded.verdict.ok)
        names = names_of(graded.verdict)
        reason = ""
        if reached and not ok:
            reason = reports[index].status if not reports[index].ok else f"judge: {names[0]}"
        found.append(_stage(primitive, reached=reached, ok=ok, predicates=names, reason=reason))
    return found


def _stage(primitive: Primitive, *, reached: bool, ok: bool, predicates: Sequence[str], reason: str) -> dict[str, Any]:
    return {
        "stage": stage_text(primitive),
        "reached": reached,
        "ok": ok,
        "predicates": list(predicates),
        "reason": reason,
    }


def stage_rates(entries: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Count the stages of many rollouts: one row per task, arm, grasp source and stage.

    Each row has ``n`` rollouts, how many ``reached`` the stage, in how many it holds (``ok``), the share of those of
    all rollouts with its Wilson 95 % interval, and the failures of those that reached it by reason.
    """
    groups: dict[tuple[str, str, str, int, str], list[Mapping[str, Any]]] = {}
    for entry in entries:
        for index, stage in enumerate(entry.get("stages", ())):
            key = (entry["task"], entry["robot"], entry["grasps"], index, stage["stage"])
            groups.setdefault(key, []).append(stage)
    rows = []
    for (task, robot, grasps, index, name), stages in groups.items():
        ok = sum(stage["ok"] for stage in stages)
        low, high = wilson(ok, len(stages))
        reasons = Counter(stage["reason"] for stage in stages if stage["reached"] and not stage["ok"])
        rows.append(
            {
                "task": task,
                "robot": robot,
                "grasps": grasps,
                "number": index + 1,
                "stage": name,
                "n": len(stages),
                "reached": sum(stage["reached"] for stage in stages),
                "ok": ok,
                "rate": ok / len(stages),
                "low": low,
                "high": high,
                "failures": dict(reasons.most_common()),
            }
        )
    return rows
