"""A bench's tables: text, CSV and a page from the same record, per-stage rates, pictures that are there."""

from __future__ import annotations

import csv
import io
import json
from html.parser import HTMLParser

import numpy as np
import pytest

from armwright.core.pool import EpisodeTimeoutError
from armwright.core.task import Primitive
from armwright.generate import bench as benches
from armwright.generate import episode as episodes
from armwright.generate.bench import BenchRequest, run_bench
from armwright.generate.episode import EpisodeRequest, run_episode
from armwright.generate.parsing import parse_sentence
from armwright.generate.stages import stage_outcomes, stage_rates
from armwright.generate.tables import cross, format_cross, format_table, rows_csv, stages_csv
from armwright.skills import dispatch


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.images: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        if tag == "img":
            self.images.append(dict(attrs)["src"])
        elif tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.fixture(scope="module")
def benched(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tables") / "bench"
    wanted = BenchRequest(
        ("stack_cube", "put the <banana> in the bowl"), robots=("franka",), rollouts=2, seed=7, workers=1, pictures=True
    )
    record = run_bench(wanted, folder)
    return folder, record, json.loads((folder / "result.json").read_text())


def test_every_table_can_be_rebuilt_from_the_record(benched):
    folder, _, record = benched
    assert (folder / "table.txt").read_text() == format_table(record) + "\n"
    assert (folder / "table.csv").read_text() == rows_csv(record)
    assert (folder / "stages.csv").read_text() == stages_csv(record)
    assert set(record["files"]) == {"journal", "table", "csv", "stages", "page"}


def test_lines_of_several_grasp_sources_are_told_apart(benched):
    _, _, record = benched
    assert "grasps" not in format_table(record).splitlines()[0]
    rows = [{**row, "grasps": name} for row in record["rows"] for name in ("manual", "generic-filtered")]
    head, *lines = format_table({**record, "rows": rows}).splitlines()
    assert "grasps" in head
    lines = [line for line in lines if " franka " in line]
    assert sum(" manual " in line for line in lines) == sum(" generic-filtered " in line for line in lines) == 2


def test_the_csv_files_hold_what_the_record_does(benched):
    _, _, record = benched
    cells = list(csv.DictReader(io.StringIO(rows_csv(record))))
    assert [row["task"] for row in cells] == [row["task"] for row in record["rows"]]
    assert next(row for row in cells if row["task"] == "stack_cube")["tier"] == "medium"
    stages = list(csv.DictReader(io.StringIO(stages_csv(record))))
    assert [row["stage"] for row in stages if row["task"] == "stack_cube"] == ["pick cube_1", "place cube_1 on cube_2"]
    assert {int(row["n"]) for row in stages} == {2}


def test_the_page_is_well_formed_and_shows_pictures_that_are_there(benched):
    folder, _, record = benched
    page = _Page()
    text = (folder / "table.html").read_text()
    page.feed(text)
    assert not page.open and "<banana>" not in text
    assert len(page.images) == len(record["pictures"]) >= 2
    assert all((folder / name).stat().st_size > 2000 for name in page.images)


def test_going_on_draws_and_counts_nothing_twice(benched, tmp_path):
    folder, first, _ = benched
    wanted = BenchRequest(
        ("stack_cube", "put the <banana> in the bowl"), robots=("franka",), rollouts=2, seed=7, workers=1, pictures=True
    )
    again = run_bench(wanted, folder, resume=True)
    for key in ("rows", "stage_rates", "pictures", "summary"):
        assert again.extra[key] == first.extra[key]


def test_stages_are_counted_by_whether_they_were_reached_and_why_they_failed():
    def entry(*stages: tuple[bool, bool, str]) -> dict:
        named = [
            {"stage": f"s{k}", "reached": reached, "ok": ok, "predicates": [], "reason": reason}
            for k, (reached, ok, reason) in enumerate(stages)
        ]
        return {"task": "t", "robot": "r", "grasps": "g", "stages": named}

    rows = stage_rates(
        [
            entry((True, True, ""), (True, True, "")),
            entry((True, True, ""), (True, False, "no_ik")),
            entry((True, False, "dropped"), (False, False, "")),
        ]
    )
    assert [(r["n"], r["reached"], r["ok"], r["failures"]) for r in rows] == [
        (3, 3, 2, {"dropped": 1}),
        (3, 2, 1, {"no_ik": 1}),
    ]


def test_a_toppled_tower_ends_the_task_at_the_stage_that_toppled_it(session_of, monkeypatch):
    parsed, _ = parse_sentence("stack_four_cube")
    placed = []

    def perform(ctx, primitive: Primitive, following, queries):
        report = dispatch.perform(ctx, primitive, following, queries)
        if primitive.name == "place":
            placed.append(primitive.object)
            if len(placed) == 2:  # the hand sweeps the tower off the table's middle
                knock_over(ctx.scene._world)
        return report

    def knock_over(world) -> None:
        sample = world.stream()[-1]
        qvel = np.array(sample.qvel)
        model = world.truth.model
        for name in placed:
            body = next(b for b in range(model.nbody) if model.body(b).name.startswith(name))
            qvel[model.body_dofadr[body] : model.body_dofadr[body] + 3] = (0.0, 1.5, 0.0)
        world.set_state(time_s=sample.stamp_s, qpos=sample.qpos, qvel=qvel, ctrl=sample.ctrl)
        world.clock.sleep(0.5)

    monkeypatch.setattr(episodes, "perform", perform)
    episode = run_episode(session_of("franka"), EpisodeRequest(parsed, 7_000_000))
    assert not episode.success and episode.failed_stage == "place: undone"
    assert len(episode.times_s) == 4, "nothing is done after the tower fell"
    stages = stage_outcomes(episode)
    assert [s["reached"] for s in stages] == [True] * 4 + [False] * 2
    assert stages[3]["reason"] == "undone" and not any(s["ok"] for s in stages[4:])


@pytest.mark.parametrize(
    "error", [OSError("encoder error -2"), ValueError("no such mode"), EpisodeTimeoutError("slow")]
)
def test_a_picture_that_cannot_be_drawn_changes_no_grade(tmp_path, monkeypatch, error):
    def broken(path, episode):
        raise error

    monkeypatch.setattr(benches, "write_snapshot", broken)
    wanted = BenchRequest(("stack_cube",), robots=("franka",), rollouts=1, seed=7, workers=1, pictures=True)
    with pytest.warns(UserWarning, match="no picture stack_cube"):
        record = run_bench(wanted, tmp_path / "bench")
    (row,) = record.extra["rows"]
    assert (row["n"], row["success"]) == (1, 1) and record.extra["pictures"] == []


def test_a_task_that_takes_longer_than_it_may_has_failed(session_of):
    parsed, _ = parse_sentence("stack_cube")
    late = parsed.model_copy(update={"time_limit_s": 1.0})
    episode = run_episode(session_of("franka"), EpisodeRequest(late, 7_000_000))
    assert not episode.success and episode.failed_stage == "pick: time_limit" and "1 s" in episode.graded.detail
    assert run_episode(session_of("franka"), EpisodeRequest(parsed, 7_000_000)).success


def _cell_row(task, robot, grasps, both, n):
    return {"task": task, "robot": robot, "grasps": grasps, "both": both, "n": n}


def test_tiers_are_crossed_with_sources_and_arms():
    rows = [
        _cell_row("stack_four_cube", "franka", "oracle", 1, 4),
        _cell_row("stack_cube", "franka", "oracle", 3, 4),
        _cell_row("hang_cup", "franka", "oracle", 4, 4),
        _cell_row("stack_cube", "franka", "generic", 0, 4),
    ]
    table = cross(rows, "grasps")
    assert list(table) == ["medium", "hard", "all"]  # a tier without cells is no row
    assert table["medium"]["oracle"]["rate"] == 7 / 8 and table["hard"]["oracle"]["n"] == 4
    assert table["hard"]["generic"]["n"] == 0 and table["all"]["oracle"]["both"] == 8
    lines = format_cross(rows, "grasps")
    assert len(lines) == 4 and lines[2].split()[:2] == ["hard", "25.0"] and lines[2].split()[-1] == "-"
    assert format_cross(rows, "robot") == []  # one arm only
