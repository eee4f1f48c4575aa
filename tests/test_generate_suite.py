"""Task files: complete, read by the parser, graded as they say; damaged ones are refused with what is allowed."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
import yaml

from armwright.core.errors import UnknownNameError, UsageError
from armwright.core.task import Primitive
from armwright.generate.bench import BenchRequest, run_bench
from armwright.generate.parsing import check_skills, parse_sentence
from armwright.generate.suite import load_task, read_task, suite, task_names
from armwright.tasks.stages import PREDICATES, stage_predicates

SENTENCES = yaml.safe_load((Path(__file__).parent / "data" / "sentences_fifty_tasks.yaml").read_text())
TASK = """name: stack_mugs
tier: medium
sentence: Put the red mug on the plate.
scene:
  attributes: {plate_1: {colour: white}}
  clutter: [banana]
stages:
  - do: pick mug_1
    predicates: [lifted]
  - do: place mug_1 on plate_1
    predicates: [released, still, on, upright]
time_limit_s: 60
"""


def task_file(folder: Path, *changes: tuple[str, str]) -> Path:
    text = TASK
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    path = folder / "stack_mugs.yaml"
    path.write_text(text)
    return path


def test_there_are_the_papers_fifty_tasks_in_three_tiers():
    assert len(task_names()) == 50 and suite("fifty") == task_names()
    assert [len(suite(tier)) for tier in ("easy", "medium", "hard")] == [10, 30, 10]
    assert {name: load_task(name).sentence for name in task_names()} == {i["task"]: i["sentence"] for i in SENTENCES}


@pytest.mark.parametrize("name", task_names())
def test_a_task_is_read_and_graded_as_its_file_says(name):
    parsed, _ = parse_sentence(name)
    assert parsed.sentence == load_task(name).sentence
    assert parsed.time_limit_s == load_task(name).time_limit_s


def test_a_task_file_adds_to_the_scene(tmp_path):
    task = read_task(task_file(tmp_path))
    parsed = parse_sentence(task.sentence)[0]
    task.check(parsed)
    whole = task.complete(parsed)
    assert whole.scene.object("plate_1").attributes == {"colour": "white"}
    assert whole.scene.object("mug_1").attributes == {"colour": "red"}
    assert whole.scene.object("banana_clutter_1").manipulated is False
    assert whole.time_limit_s == 60 and parsed.time_limit_s is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("[released, still, on,", "[released, stil, on,"), "unknown predicate 'stil'. Nearest: still"),
        (("time_limit_s", "time_limit"), "unknown field 'time_limit'. Valid fields: name, tier, sentence"),
        (("do: pick mug_1", "does: pick mug_1"), "stages.0.do: Field required"),
        (("  clutter: [banana]", "  litter: [banana]"), "unknown field 'scene.litter'. Valid fields: attributes"),
        (("[banana]", "[bananna]"), "unknown category 'bananna'. Nearest: banana"),
        (("tier: medium", "tier: middling"), "tier: Input should be 'easy', 'medium' or 'hard'"),
        (("time_limit_s: 60", "time_limit_s: -1"), "time_limit_s: Input should be greater than 0"),
        (("name: stack_mugs", "name: stack_cups"), "is of the task stack_cups. Name it stack_cups.yaml."),
        (("tier: medium", "tier: [medium"), "cannot be read"),
        (("time_limit_s: 60\n", ""), ""),
    ],
)
def test_a_wrong_task_file_is_refused_with_what_is_allowed(tmp_path, change, message):
    path = task_file(tmp_path, change)
    if not message:
        assert read_task(path).time_limit_s > 0
        return
    with pytest.raises(UsageError) as refused:
        read_task(path)
    assert message in str(refused.value) and str(path) in str(refused.value)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("pick mug_1", "pick cup_1"), "is read as pick mug_1, place mug_1 on plate_1"),
        (("still, on, upright]", "still, on]"), "the judge grades it by released, still, on, upright"),
    ],
)
def test_stages_that_are_not_the_sentences_are_refused(tmp_path, change, message):
    task = read_task(task_file(tmp_path, change))
    with pytest.raises(UsageError, match=message):
        task.check(parse_sentence(task.sentence)[0])


def test_a_scene_that_speaks_of_what_is_not_there_is_refused(tmp_path):
    task = read_task(task_file(tmp_path, ("plate_1: {", "bowl_1: {")))
    with pytest.raises(UnknownNameError, match="unknown object in the scene of task stack_mugs 'bowl_1'"):
        task.complete(parse_sentence(task.sentence)[0])


def test_unknown_tasks_are_refused_with_the_nearest():
    with pytest.raises(UnknownNameError, match=r"unknown task 'stack_cubes'. Nearest: stack_cube"):
        parse_sentence("stack_cubes")
    with pytest.raises(UnknownNameError, match="unknown task"):
        load_task("../tasks/stack_cube")


def test_every_primitive_is_graded_by_known_predicates():
    for step in ("pick", "place", "hold", "pour", "open", "close", "push", "pull", "hang"):
        first = Primitive(name=step, object="a", target="b", relation="on")
        for then in ("pick", "place", "close", "open"):
            for names in stage_predicates([first, Primitive(name=then, object="a", target="b", relation="in")]):
                assert names and set(names) <= PREDICATES.keys()


@pytest.mark.slow
def test_the_judge_grades_by_the_predicates_that_the_files_name(tmp_path):
    names = ("stack_cube", "pour_mugcup", "pour_whitekettle4", "open_microwave", "close_microwave", "push_cheezbox")
    run_bench(BenchRequest(names, robots=("franka",), rollouts=2, seed=7, workers=1), tmp_path / "bench")
    seen: Counter[str] = Counter()
    for line in (tmp_path / "bench" / "journal.jsonl").read_text().splitlines():
        entry = json.loads(line)
        for said, stage in zip(load_task(entry["task"]).stages, entry["stages"], strict=True):
            assert stage["stage"] == said.do
            if stage["ok"]:
                assert set(stage["predicates"]) == set(said.predicates)
                seen[said.do.split()[0]] += 1
    assert seen.keys() == {"pick", "place", "pour", "hold", "open", "close", "push"}


def test_what_is_of_one_piece_is_refused_where_it_should_open_or_close(task):
    """A chat model may ask for what the built-in parser refuses."""
    parsed = task("put the banana on the plate")
    for name, object_id, noun in (("close", "banana_1", "banana"), ("open", "plate_1", "plate")):
        asked = parsed.model_copy(update={"primitives": (Primitive(name=name, object=object_id),)})
        with pytest.raises(UsageError, match=f"the {noun} is of one piece, nothing of it {name}s"):
            check_skills(asked)
    for sentence in ("close the pot", "open the top drawer", "close the microwave", "put the banana on the plate"):
        check_skills(task(sentence))
