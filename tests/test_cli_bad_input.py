"""Bad input on the command line: each ends in a clear message and the right exit code, and loses nothing."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from armwright.core.settings import get_settings
from armwright.robots.bake import bake_digest, baked_folder
from armwright.robots.registry import robot_names
from chat_server import Step, serve

SENTENCE = "put the banana in the bowl"
ANSWER = {
    "objects": [{"id": "banana_1", "category": "banana"}, {"id": "bowl_1", "category": "bowl"}],
    "relations": [],
    "primitives": [
        {"name": "pick", "object": "banana_1"},
        {"name": "place", "object": "banana_1", "target": "bowl_1", "relation": "in"},
    ],
    "not_understood": [],
}


def armwright(*arguments: object, limit_file_bytes: int = 0, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit_file_bytes, limit_file_bytes))

    return subprocess.run(
        [sys.executable, "-m", "armwright", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
        preexec_fn=limit if limit_file_bytes else None,
    )


def is_clear(text: str) -> bool:
    """Say whether an error output is one message and no traceback."""
    return text.startswith("armwright: ") and "Traceback" not in text and len(text.strip().splitlines()) == 1


@pytest.mark.parametrize("command", [("parse",), ("run",), ("generate",), ("bench", "--task")])
@pytest.mark.parametrize(
    ("sentence", "message"),
    [
        ("pick up the unicorn", "unknown object 'unicorn'. Nearest:"),
        ("put the shelf in the mug", "cannot place the shelf: it is fixed in place."),
        ("put the box in the cup", "a box cannot be in a cup: it is too large"),
        ("the mug", "nothing to do in 'the mug'."),
        ("", "the text '' is empty."),
        ("  \n ", "is empty."),
        ("Stelle die Tasse auf den Teller", "is not English as far as can be told."),
    ],
)
def test_sentences_that_mean_nothing_are_refused(cli, tmp_path, command, sentence, message):
    where = () if command == ("parse",) else ("--out", tmp_path / "out")
    ran = cli(*command, sentence, *where)
    assert ran.code == 2 and is_clear(ran.err) and message in ran.err
    assert ran.out == "" and not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", ["run", "generate"])
@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--robot", "frnka", "unknown robot 'frnka'. Nearest: franka."),
        ("--robot", "FRANKA", "unknown robot 'FRANKA'. Nearest: franka."),
        ("--robot", "r2d2", f"unknown robot 'r2d2'. Valid: {', '.join(robot_names())}."),
        ("--grasps", "afordance", "unknown grasp source 'afordance'. Nearest: affordance, oracle."),
        ("--affordance", "orcle", "unknown affordance model 'orcle'. Nearest: oracle."),
        ("--model", "mistral:x", "unknown model provider 'mistral'. Valid: anthropic, openai."),
        ("--parser", "embeded", "unknown parser 'embeded'. Nearest: embedded."),
        ("--parser", "", "unknown parser ''. Valid:"),
        ("--parser", "chat", "the chat parser needs a model."),
        ("--model", "gpt", "model 'gpt' names no provider. Write openai:NAME or anthropic:NAME."),
    ],
)
def test_unknown_names_are_refused_with_the_nearest(cli, tmp_path, command, option, value, message):
    ran = cli(command, SENTENCE, option, value, "--out", tmp_path / "out")
    assert ran.code == 2 and is_clear(ran.err) and message in ran.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("generate", SENTENCE, "-n", 0), "-n is 0; it must be from 1 to 1000000."),
        (("generate", SENTENCE, "-n", -5), "-n is -5;"),
        (("generate", SENTENCE, "--workers", -1), "--workers is -1; it must be from 0 to 100000."),
        (("generate", SENTENCE, "--engine", "slurm"), "unknown engine 'slurm'. Valid: local, ray."),
        (("assets", "show", "mug", "-n", 0), "-n is 0; it must be from 1 to 120."),
        (("assets", "show", "mug", "-n", -5), "-n is -5;"),
        (("assets", "show", "mug", "-n", 1000), "-n is 1000;"),
        (("assets", "show", "-n", 0), "-n is 0;"),
        (("bench", "--task", SENTENCE, "--rollouts", 0), "--rollouts is 0; it must be from 1"),
        (("bench", "--task", SENTENCE, "--workers", -2), "--workers is -2;"),
        (("bench", "--task", SENTENCE, "--robots", "franka,ur5"), "unknown robot 'ur5'. Nearest: ur5e."),
        (("bench", "--task", SENTENCE, "--robots", ","), "no robot is named."),
        (("bench", "--task", SENTENCE, "--grasps", ""), "no grasp source is named."),
        (("bench", "--task", SENTENCE, "--affordance", "x"), "unknown affordance model 'x'."),
        (("bench", "--task", "stack_cubes"), "unknown task 'stack_cubes'. Nearest: stack_cube,"),
        (("bench", "--suite", "sixty"), "unknown suite 'sixty'."),
        (("run", "open_microwaves"), "unknown task 'open_microwaves'. Nearest: open_microwave,"),
        (("generate", "hang_cups", "-n", 1), "unknown task 'hang_cups'. Nearest: hang_cup,"),
    ],
)
def test_numbers_and_lists_out_of_range_are_refused(cli, tmp_path, arguments, message):
    ran = cli(*arguments, "--out", tmp_path / "out")
    assert ran.code == 2 and is_clear(ran.err) and message in ran.err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", SENTENCE, "--seed", "-1"), "--seed"),
        (("run", SENTENCE, "--seed", 10**20), "--seed"),
        (("run", SENTENCE, "--seed", "seven"), "--seed"),
        (("generate", SENTENCE, "-n", "many"), "-n"),
        (("bench",), "--task"),
        (("run",), "sentence"),
        (("run", SENTENCE, "--robt", "franka"), "--robt"),
        (("rnu", SENTENCE), "rnu"),
        (("dataset", "verify"), "folder"),
    ],
)
def test_wrong_options_name_the_option(cli, arguments, message):
    ran = cli(*arguments)
    assert ran.code == 2 and message.lower() in ran.err.lower() and "Traceback" not in ran.err


@pytest.mark.parametrize("command", [("generate",), ("bench", "--task")])
def test_what_no_skill_performs_is_refused_before_anything_is_tried(cli, monkeypatch, tmp_path, command):
    from armwright.skills import dispatch

    monkeypatch.setattr(dispatch, "SKILLS", {k: v for k, v in dispatch.SKILLS.items() if k != "place"})
    ran = cli(*command, SENTENCE, "--out", tmp_path / "out")
    assert ran.code == 2 and is_clear(ran.err) and not (tmp_path / "out").exists()
    assert f"{SENTENCE!r} needs place, which is understood but not executed yet. Executed are: " in ran.err
    assert "pick" in ran.err


def test_a_named_parser_is_used(cli, tmp_path):
    assert json.loads(cli("parse", SENTENCE, "--parser", "embedded", "--json").out)["parser"] == "embedded"
    ran = cli("parse", SENTENCE, "--parser", "embedded", "--model", "openai:x")
    assert ran.code == 2 and "the embedded parser takes no model, got 'openai:x'." in ran.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("dataset", "verify", "{missing}"), 2, "is not a folder. Give the folder that holds"),
        (("dataset", "verify", "{empty}"), 2, "holds no dataset: there is no meta/info.json."),
        (("dataset", "info", "{missing}"), 2, "holds no finished dataset."),
        (("dataset", "info", "{empty}"), 2, "holds no finished dataset."),
        (("dataset", "replay", "{missing}"), 2, "holds no finished dataset."),
        (("dataset", "replay", "{empty}"), 2, "holds no finished dataset."),
        (("assets", "show", "unicorn"), 2, "unknown category 'unicorn'."),
        (("robots", "show", "kinva"), 2, "unknown robot 'kinva'. Nearest: kinova."),
        (("assets", "list", "nosuch"), 2, "unknown category 'nosuch'."),
        (("assets", "list", "nosuch"), 2, "All categories: armwright assets list."),
        (("dataset", "info", ""), 2, "a path is empty; it must name a file or folder."),
        (("dataset", "verify", ""), 2, "a path is empty;"),
        (("assets", "import", ""), 2, "a path is empty;"),
        (("generate", SENTENCE, "--randomise", "texture", "--textures", ""), 2, "a path is empty;"),
        (("generate", SENTENCE, "--randomise", "background", "--splat="), 2, "a path is empty;"),
        (("bench", "--task", "nosuch"), 2, "Tasks' names are in docs/tasks.md; --suite fifty runs all."),
        (("parse", "put 0 mugs on the plate"), 2, "'0' in 'put 0 mugs on the plate' is no number"),
        (("parse", "stack zero cubes"), 2, "Say one from 1 to 12."),
    ],
)
def test_what_is_not_there_is_named(cli, tmp_path, arguments, code, message):
    (tmp_path / "empty").mkdir()
    names = {"missing": tmp_path / "missing", "empty": tmp_path / "empty"}
    ran = cli(*(str(a).format(**names) for a in arguments))
    assert ran.code == code and message in ran.err + ran.out and "Traceback" not in ran.err
    assert list((tmp_path / "empty").iterdir()) == []


@pytest.mark.parametrize("command", [("run",), ("generate", "-n", "1"), ("bench", "--rollouts", "1", "--task")])
@pytest.mark.parametrize("where", ["below a file", "in /proc"])
def test_folders_that_cannot_be_written_are_refused_at_once(cli, tmp_path, command, where):
    (tmp_path / "file").write_text("mine")
    out = tmp_path / "file" / "out" if where == "below a file" else Path("/proc/armwright")
    ran = cli(*command, SENTENCE, "--out", out)
    assert ran.code == 2 and is_clear(ran.err)
    assert f"cannot write into {out}:" in ran.err and "--out" in ran.err
    assert (tmp_path / "file").read_text() == "mine"


def test_a_read_only_folder_is_refused_at_once(cli, tmp_path):
    if os.geteuid() == 0:
        pytest.skip("root may write everywhere")
    tmp_path.chmod(0o500)
    ran = cli("run", SENTENCE, "--out", tmp_path / "out")
    tmp_path.chmod(0o700)
    assert ran.code == 2 and "Permission denied" in ran.err


@pytest.mark.parametrize("command", [("run",), ("generate", "-n", "1"), ("bench", "--rollouts", "1", "--task")])
@pytest.mark.parametrize("option", [("--out", ""), ("--out=",)], ids=str)
def test_an_empty_name_is_no_folder(cli, monkeypatch, tmp_path, command, option):
    monkeypatch.chdir(tmp_path)
    ran = cli(*command, SENTENCE, *option)
    assert ran.code == 2 and "--out is empty; it must name a folder." in ran.err
    assert list(tmp_path.iterdir()) == []


def test_a_file_as_the_folder_is_refused(cli, tmp_path):
    (tmp_path / "file").write_text("mine")
    ran = cli("run", SENTENCE, "--out", tmp_path / "file")
    assert ran.code == 2 and "is a file" in ran.err


@pytest.mark.parametrize("present", ["result.json", "request.json", "dataset"])
def test_a_folder_with_a_result_is_not_overwritten(cli, tmp_path, present):
    (tmp_path / present).write_text("mine")
    ran = cli("run", SENTENCE, "--out", tmp_path)
    assert ran.code == 2 and is_clear(ran.err) and f"already holds a result ({present})" in ran.err
    assert [p.name for p in tmp_path.iterdir()] == [present] and (tmp_path / present).read_text() == "mine"


@pytest.mark.parametrize(
    "command",
    [
        ("run", SENTENCE),
        pytest.param(("generate", SENTENCE, "-n", 2, "--workers", 1), marks=pytest.mark.slow),
        pytest.param(("generate", SENTENCE, "-n", 2, "--workers", 2), marks=pytest.mark.slow),
    ],
)
def test_a_disk_that_fills_up_is_reported_and_leaves_no_half_files(cli, tmp_path, command):
    """A limit on the size of files stands in for the disk: writing beyond it fails in the same calls."""
    out = tmp_path / "out"
    ran = armwright(*command, "--no-images", "--out", out, limit_file_bytes=20_000)
    assert ran.returncode == 2, ran.stderr
    assert "cannot write" in ran.stderr and "File too large" in ran.stderr and is_clear(ran.stderr), ran.stderr
    assert not (out / "result.json").exists()
    left = [p for p in out.rglob("*") if p.is_file() and p.suffix in (".parquet", ".mp4")]
    assert left == []
    more = ("--resume",) if command[0] == "generate" else ()
    again = cli(*command, "--no-images", "--out", out, *more)
    assert again.code == 0, again.err


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="only root may mount a small disk")
def test_a_full_disk_is_reported(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=150k", "tmpfs", str(disk)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        ran = armwright("generate", SENTENCE, "-n", 30, "--workers", 1, "--no-images", "--out", disk / "out")
        assert ran.returncode == 2 and is_clear(ran.stderr), ran.stderr
        assert "No space left on device" in ran.stderr and "space" in ran.stderr
        # Every line of the journal is an episode that is whole.
        subprocess.run(["mount", "-o", "remount,size=20m", str(disk)], check=True)
        kept = len((disk / "out/journal.jsonl").read_text().splitlines())
        again = armwright(
            "generate", SENTENCE, "-n", kept + 1, "--workers", 1, "--no-images", "--out", disk / "out", "--resume"
        )
        assert again.returncode == 0, again.stderr
        assert f"{kept + 1} demonstrations" in again.stdout
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def test_a_killed_run_does_not_block_the_next(cli, tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "armwright", "run", SENTENCE, "--out", str(out)]
    run = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 120
    while not list(out.glob(".dataset-unfinished/*")) and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.005)
    run.send_signal(signal.SIGKILL)
    assert run.wait() == -signal.SIGKILL, "the run was over before it could be killed"
    assert not (out / "result.json").exists() and not (out / "dataset").exists()
    again = cli("run", SENTENCE, "--no-images", "--out", out)
    assert again.code == 0, again.err
    assert (out / "result.json").exists() and cli("dataset", "verify", out / "dataset").code == 0
    assert not (out / ".dataset-unfinished").exists()


def test_an_interrupt_is_said_and_what_is_finished_is_kept(tmp_path):
    out = tmp_path / "out"
    command = [sys.executable, "-m", "armwright", "generate", SENTENCE, "-n", "50", "--workers", "1", "--no-images"]
    run = subprocess.Popen([*command, "--out", str(out)], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (out / "journal.jsonl").exists() and run.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=60)
    assert run.returncode == 130 and "interrupted" in err and "Traceback" not in err
    assert (out / "journal.jsonl").read_text().endswith("\n")


def test_offline_with_an_empty_cache_names_the_remedy(tmp_path):
    ran = armwright(
        "run", SENTENCE, "--out", tmp_path / "out", ARMWRIGHT_OFFLINE="1", ARMWRIGHT_CACHE_DIR=str(tmp_path / "cache")
    )
    assert ran.returncode == 2 and is_clear(ran.stderr)
    assert "is not in the cache and downloads are off. Run `armwright assets prefetch` once while online." in ran.stderr


def test_a_download_that_fails_is_reported(tmp_path):
    """Nothing listens at the index."""
    ran = armwright(
        "robots", "show", "ur5e", "--out", tmp_path / "out", ARMWRIGHT_CACHE_DIR=str(tmp_path / "cache"),
        PIP_INDEX_URL="http://127.0.0.1:9/simple", PIP_CONFIG_FILE=os.devnull, PIP_EXTRA_INDEX_URL="",
        PIP_FIND_LINKS="",
    )  # fmt: skip
    assert ran.returncode == 2 and "Traceback" not in ran.stderr
    assert "armwright: could not download" in ran.stderr and "in 3 attempts" in ran.stderr
    assert not list((tmp_path / "cache").rglob("*.whl"))


def test_a_damaged_cache_without_a_download_is_reported(tmp_path):
    folder = baked_folder("franka")
    cache = tmp_path / "cache"
    shutil.copytree(folder, cache / "robots" / folder.name)
    listed = json.loads((folder / "manifest.json").read_text())["files"]
    mesh = max((cache / "robots" / folder.name / name for name in listed), key=lambda path: path.stat().st_size)
    mesh.write_bytes(mesh.read_bytes()[:-1000])
    environment = {"ARMWRIGHT_OFFLINE": "1", "ARMWRIGHT_CACHE_DIR": str(cache)}
    ran = armwright("run", SENTENCE, "--out", tmp_path / "out", **environment)
    assert ran.returncode == 2 and is_clear(ran.stderr) and "armwright assets prefetch" in ran.stderr


@pytest.mark.parametrize("below", ["", "sub"])
def test_a_link_to_nowhere_is_named(cli, environment, tmp_path, below):
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "nowhere")
    why = f"{link} is a link to {tmp_path / 'nowhere'}, which does not exist."
    ran = cli("run", SENTENCE, "--out", link / below)
    assert ran.code == 2 and is_clear(ran.err) and why in ran.err and "--out" in ran.err
    ran = cli("assets", "show", "mug", "--out", link / below)
    assert ran.code == 2 and is_clear(ran.err) and why in ran.err
    environment(ARMWRIGHT_CACHE_DIR=str(link / below))
    ran = cli("robots", "show", "franka", "--out", tmp_path / "out")
    assert ran.code == 2 and is_clear(ran.err) and why in ran.err and "ARMWRIGHT_CACHE_DIR" in ran.err
    assert "link to" in cli("doctor").out


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("mount") is None, reason="only root may mount a small disk")
def test_a_cache_without_space_is_refused_at_once(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=200k", "tmpfs", str(cache)], capture_output=True)
    if mounted.returncode:
        pytest.skip("mounting is not allowed here")
    try:
        ran = armwright("robots", "show", "franka", "--out", tmp_path / "out", ARMWRIGHT_CACHE_DIR=str(cache))
        assert ran.returncode == 2 and is_clear(ran.stderr)
        assert f"needs 177 MB in {cache / 'wheels'}, where 0 MB are free." in ran.stderr
        assert "ARMWRIGHT_CACHE_DIR" in ran.stderr
        for wheel in (get_settings().cache_dir / "wheels").glob("*.whl"):
            (cache / "wheels" / wheel.name).symlink_to(wheel)
        ran = armwright("robots", "show", "franka", "--out", tmp_path / "out", ARMWRIGHT_CACHE_DIR=str(cache))
        assert ran.returncode == 2 and "Traceback" not in ran.stderr
        assert "No space left on device. Free some space" in ran.stderr and "ARMWRIGHT_CACHE_DIR" in ran.stderr
        assert [p.name for p in (cache / "robots").iterdir() if p.suffix != ".lock"] == []
    finally:
        subprocess.run(["umount", str(cache)], check=True)


@pytest.mark.parametrize("name", ["ARMWRIGHT_RENDERER", "ARMWRIGHT_OFFLINE"])
def test_the_doctor_says_which_setting_is_wrong_and_goes_on(cli, environment, name):
    environment(**{name: "nonsense"})
    ran = cli("doctor", "--json")
    findings = {f["name"]: f for f in json.loads(ran.out)["findings"]}
    assert ran.code == 1 and findings["settings"]["state"] == "missing" and findings["settings"]["fix"]
    assert name in findings["settings"]["detail"] and findings["python"]["state"] == "ok"


@pytest.mark.slow
def test_a_damaged_cache_is_baked_again(tmp_path):
    wheels = get_settings().cache_dir / "wheels"
    folder, cache = baked_folder("franka"), tmp_path / "cache"
    shutil.copytree(folder, cache / "robots" / folder.name)
    (cache / "wheels").symlink_to(wheels)
    xml = cache / "robots" / folder.name / "robot.xml"
    xml.write_text(xml.read_text()[:500])
    ran = armwright("run", SENTENCE, "--no-images", "--out", tmp_path / "out", ARMWRIGHT_CACHE_DIR=str(cache))
    assert ran.returncode == 0, ran.stderr
    assert folder.name.endswith(bake_digest("franka")) and len(xml.read_text()) > 500


@pytest.mark.parametrize(
    ("name", "value"),
    [("ARMWRIGHT_RENDERER", "vulkan"), ("ARMWRIGHT_OFFLINE", "perhaps"), ("ARMWRIGHT_MODEL_TIMEOUT_S", "-1")],
)
def test_settings_that_are_wrong_name_the_variable(cli, environment, tmp_path, name, value):
    environment(**{name: value})
    ran = cli("run", SENTENCE, "--out", tmp_path / "out")
    assert ran.code == 2 and is_clear(ran.err) and name in ran.err and repr(value) in ran.err


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (Step('{"objects": [{"id": "ban'), "broken|not valid|usable|retries"),
        (Step({**ANSWER, "objects": "a banana"}), "usable|retries"),
        (Step({**ANSWER, "primitives": []}), "no primitive|usable|retries"),
        (Step(ANSWER, wait_s=30.0), "answer|time"),
        (Step(ANSWER, status=500), "500|answer"),
        (Step(ANSWER, status=401), "401|key"),
    ],
    ids=["broken JSON", "wrong type", "wrong content", "never", "server error", "wrong key"],
)
@pytest.mark.parametrize("command", ["parse", "run"])
def test_a_model_that_gives_nothing_usable_is_reported(cli, environment, tmp_path, step, message, command):
    where = ("--out", tmp_path / "out") if command == "run" else ()
    with serve(step) as server:
        environment(OPENAI_BASE_URL=server.url + "/v1", OPENAI_API_KEY="k", ARMWRIGHT_MODEL_TIMEOUT_S="2")
        ran = cli(command, SENTENCE, "--model", "openai:x", *where)
    assert ran.code == 2 and is_clear(ran.err), ran.err
    assert any(word in ran.err for word in message.split("|")), ran.err
    assert "openai:x" in ran.err and ran.out == "" and not (tmp_path / "out").exists()


def test_a_model_without_a_key_is_reported(cli, environment, monkeypatch):
    for name in ("OPENAI_API_KEY", "ARMWRIGHT_OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    environment()
    ran = cli("parse", SENTENCE, "--model", "openai:x")
    assert ran.code == 2 and is_clear(ran.err) and "OPENAI_API_KEY" in ran.err


def test_a_key_that_is_none_is_reported_and_not_shown(cli, environment):
    environment(OPENAI_API_KEY="s\u00e9cret")
    ran = cli("parse", SENTENCE, "--model", "openai:x")
    assert ran.code == 2 and is_clear(ran.err) and "OPENAI_API_KEY" in ran.err and "cret" not in ran.err


def test_a_model_that_corrects_itself_is_used(cli, environment):
    with serve(Step("{"), Step(ANSWER)) as server:
        environment(OPENAI_BASE_URL=server.url + "/v1", OPENAI_API_KEY="k", ARMWRIGHT_MODEL_TIMEOUT_S="20")
        ran = cli("parse", SENTENCE, "--model", "openai:x")
    assert ran.code == 0 and "place banana_1 in bowl_1" in ran.out
    assert len(server.requests) == 2
