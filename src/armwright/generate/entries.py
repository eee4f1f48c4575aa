"""What the lines of a journal hold: one finished item of ``generate`` or of ``bench`` each."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, model_validator

_Seconds = Annotated[float, Field(ge=0, allow_inf_nan=False)]
_Count = Annotated[int, Field(ge=0)]


class _Entry(BaseModel):
    # Journals of other versions may hold more.
    model_config = ConfigDict(strict=True, extra="allow")


class AttemptEntry(_Entry):
    """One attempt at a demonstration."""

    seed: _Count
    ok: bool
    failed: str | None
    wall_s: _Seconds
    sim_s: _Seconds


class StageEntry(_Entry):
    """One stage of a rollout."""

    stage: str
    reached: bool
    ok: bool
    predicates: list[str]
    reason: str


class RolloutEntry(_Entry):
    """One rollout of a bench, keyed by what it is of."""

    key: str
    order: tuple[str, str, str, int] = Field(strict=False)
    robot: str
    grasps: str
    task: str
    seed: _Count
    success: bool
    compliance: bool | None
    failed: str | None
    detail: str
    sim_s: _Seconds
    draws: _Count
    rejected: _Count
    touched: list[str]
    stages: list[StageEntry] = []

    @model_validator(mode="after")
    def _key_is_of_its_fields(self) -> RolloutEntry:
        if self.key != rollout_key(robot=self.robot, grasps=self.grasps, sentence=self.task, seed=self.seed):
            raise ValueError("key is not that of robot, grasps, task and seed")
        if self.order != (self.robot, self.grasps, self.task, self.seed):
            raise ValueError("order is not that of robot, grasps, task and seed")
        return self


def rollout_key(*, robot: str, grasps: str, sentence: str, seed: int) -> str:
    """Return what tells a rollout from all others of its bench."""
    return f"{robot}|{grasps}|{sentence}|{seed}"
