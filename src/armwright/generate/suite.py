"""The benchmark's tasks: data files that hold a sentence, what its scene must have, and how each stage is graded."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from armwright.assets.catalog import CATALOG
from armwright.assets.scene import ObjectSpec, ParsedTask, Relation, WindowSpec
from armwright.core.errors import UnknownNameError, UsageError, quoted
from armwright.core.task import RelationName
from armwright.tasks.stages import PREDICATES, stage_predicates, stage_text

Tier = Literal["easy", "medium", "hard"]
TIERS: tuple[str, ...] = get_args(Tier)
FIFTY = "fifty"
SUITES = (FIFTY, *TIERS)

_TASKS = Path(__file__).parent / "tasks"
_NAME = re.compile(r"[a-z0-9]+(_[a-z0-9]+)+")


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class StageSpec(_Model):
    """One stage of a task: a primitive as the sentence is read, and the predicates that grade it."""

    do: str
    predicates: tuple[str, ...] = Field(min_length=1)

    @field_validator("predicates")
    @classmethod
    def _known(cls, names: tuple[str, ...]) -> tuple[str, ...]:
        for name in names:
            if name not in PREDICATES:
                raise ValueError(str(UnknownNameError("predicate", name, PREDICATES)))
        return names


class SceneAdditions(_Model):
    """What a task's scene has beyond what its sentence says, by the ids that the parser gives.

    Attributes:
        attributes: Object -> attributes.
        relations: (subject, relation, object).
        joints: Object -> joint value by link [m or rad].
        clutter: Categories of things that only stand there.
        window: Randomisation of what is moved; None takes the usual window.
    """

    attributes: dict[str, dict[str, str]] = Field(default_factory=dict)
    relations: tuple[tuple[str, RelationName, str], ...] = ()
    joints: dict[str, dict[str, float]] = Field(default_factory=dict)
    clutter: tuple[str, ...] = ()
    window: WindowSpec | None = None

    @field_validator("clutter")
    @classmethod
    def _known(cls, categories: tuple[str, ...]) -> tuple[str, ...]:
        for category in categories:
            if category not in CATALOG:
                raise ValueError(str(UnknownNameError("category", category, CATALOG)))
        return categories


class TaskSpec(_Model):
    """A named task of the benchmark (AffordSim, appendix on the tasks).

    Attributes:
        name: The paper's name.
        tier: The paper's tier.
        sentence: What is asked of the robot; the parser reads it like a user's.
        scene: What the sentence leaves open about the scene.
        stages: One per primitive, in order.
        time_limit_s: Longest that it may take in the world [s].
    """

    name: str = Field(pattern=_NAME.pattern)
    tier: Tier
    sentence: str = Field(min_length=1)
    scene: SceneAdditions = SceneAdditions()
    stages: tuple[StageSpec, ...] = Field(min_length=1)
    time_limit_s: float = Field(default=120.0, gt=0)

    def complete(self, parsed: ParsedTask) -> ParsedTask:
        """Add the task's scene and time limit to what its sentence means.

        Raises:
            UsageError: The scene speaks of an object that the sentence has not.
        """
        more, ids = self.scene, {node.id for node in parsed.scene.objects}
        for object_id in (*more.attributes, *more.joints, *(k for a, _, b in more.relations for k in (a, b))):
            if object_id not in ids:
                raise UnknownNameError(f"object in the scene of task {self.name}", object_id, ids)
        objects = tuple(
            node.model_copy(
                update={
                    "attributes": {**node.attributes, **more.attributes.get(node.id, {})},
                    "joints": {**node.joints, **more.joints.get(node.id, {})},
                }
            )
            for node in parsed.scene.objects
        )
        clutter = tuple(ObjectSpec(id=f"{name}_clutter_{k}", category=name) for k, name in enumerate(more.clutter, 1))
        relations = tuple(Relation(subject=a, relation=r, object=b) for a, r, b in more.relations)
        scene = parsed.scene.model_copy(
            update={
                "objects": objects + clutter,
                "relations": parsed.scene.relations + relations,
                "window": more.window or parsed.scene.window,
            }
        )
        return parsed.model_copy(update={"scene": scene, "time_limit_s": self.time_limit_s})

    def check(self, parsed: ParsedTask) -> None:
        """Make sure that the sentence is read as the stages say, and graded by what they name.

        Raises:
            UsageError: It is not; the message says how it is read, or what the judge grades.
        """
        read = [stage_text(primitive) for primitive in parsed.primitives]
        said = [stage.do for stage in self.stages]
        if read != said:
            raise UsageError(
                f"task {self.name} has the stages {', '.join(said)}, but {quoted(self.sentence)} is read as "
                f"{', '.join(read)}.",
                hint="Correct the stages, or say it otherwise.",
            )
        for stage, graded in zip(self.stages, stage_predicates(parsed.primitives), strict=True):
            if set(stage.predicates) != set(graded):
                raise UsageError(
                    f"task {self.name} grades {stage.do} by {', '.join(stage.predicates)}; "
                    f"the judge grades it by {', '.join(graded)}.",
                    hint="Correct the stage's predicates.",
                )


def is_task_name(text: str) -> bool:
    """Tell whether a text is written like a task's name rather than a sentence: words joined by underscores."""
    return _NAME.fullmatch(text) is not None


@lru_cache(maxsize=1)
def task_names() -> tuple[str, ...]:
    """Return the names of all tasks, tier by tier, sorted within each."""
    tiers = {path.stem: load_task(path.stem).tier for path in sorted(_TASKS.glob("*.yaml"))}
    return tuple(sorted(tiers, key=lambda name: (TIERS.index(tiers[name]), name)))


def suite(name: str) -> tuple[str, ...]:
    """Return the names of a suite's tasks.

    Args:
        name: ``fifty`` for all, or a tier.

    Raises:
        UnknownNameError: There is no such suite.
    """
    if name not in SUITES:
        raise UnknownNameError("suite", name, SUITES)
    return tuple(task for task in task_names() if name in (FIFTY, load_task(task).tier))


@cache
def load_task(name: str) -> TaskSpec:
    """Return a task by its name.

    Raises:
        UnknownNameError: There is no such task; the message lists the nearest names.
        UsageError: Its file is damaged.
    """
    path = _TASKS / f"{name}.yaml"
    if not is_task_name(name) or not path.is_file():
        raise UnknownNameError("task", name, (file.stem for file in _TASKS.glob("*.yaml")))
    return read_task(path)


def read_task(path: Path) -> TaskSpec:
    """Read a task file.

    Raises:
        UsageError: It cannot be read, is no YAML, has an unknown field or predicate, or lacks a field.
    """
    import yaml

    try:
        # Texts stay texts: YAML would take the predicate `on` for a truth value.
        task = TaskSpec.model_validate(yaml.load(path.read_text(encoding="utf-8"), Loader=yaml.BaseLoader))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        raise UsageError(f"task file {path} cannot be read: {error}.") from error
    except ValidationError as error:
        raise UsageError(f"task file {path} is wrong: {_first(error)}.", hint=_allowed(error)) from error
    if task.name != path.stem:
        raise UsageError(f"task file {path} is of the task {task.name}.", hint=f"Name it {task.name}.yaml.")
    return task


def _first(error: ValidationError) -> str:
    found = error.errors()[0]
    where = ".".join(str(part) for part in found["loc"])
    if found["type"] == "extra_forbidden":
        return f"unknown field {quoted(where)}"
    said = str(found.get("ctx", {}).get("error") or found["msg"]).rstrip(".")
    return f"{where}: {said}" if where else said


def _allowed(error: ValidationError) -> str:
    found = error.errors()[0]
    if found["type"] != "extra_forbidden":
        return ""
    models: dict[str, type[BaseModel]] = {"stages": StageSpec, "scene": SceneAdditions}
    model = models.get(str(found["loc"][0]), TaskSpec) if len(found["loc"]) > 1 else TaskSpec
    return f"Valid fields: {', '.join(model.model_fields)}."
