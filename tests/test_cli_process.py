"""What surrounds a command: its streams, signals, arguments and environment may be anything."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SENTENCE = "put the banana in the bowl"
COMMAND = f"{sys.executable} -m armwright"

# A callback from C takes a second, then the command would go on for ten.
SWALLOWING = """
import ctypes, time
from armwright.cli import main as entry

def compare(a, b):
    print("inside", flush=True)
    end = time.monotonic() + 0.5
    while time.monotonic() < end:
        pass
    return 0

def command():
    callback = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)(compare)
    ctypes.CDLL(None).qsort((ctypes.c_int * 2)(2, 1), 2, 4, callback)
    time.sleep(60)
    return 0

entry._command = command
entry.main()
"""

# Cleaning up after the first signal never ends.
STUCK = """
import time
from armwright.cli import main as entry

def command():
    try:
        print("inside", flush=True)
        time.sleep(60)
    finally:
        print("cleaning up", flush=True)
        time.sleep(60)

entry._command = command
entry.main()
"""


def shell(line: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash, where streams can be closed."""
    return subprocess.run(
        ["bash", "-c", line],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        env={**os.environ, **environment},
    )


def armwright(*arguments: str | bytes, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "armwright", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, check=False, timeout=120, env={**os.environ, **environment}
    )


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    ("arguments", "code"), [("robots list", 0), (f"parse '{SENTENCE}' --json", 0), ("parse 'pick up the unicorn'", 2)]
)
def test_closed_streams_change_nothing(closed, arguments, code):
    ran = shell(f"{COMMAND} {arguments} {closed}")
    assert ran.returncode == code and "Traceback" not in ran.stderr
    assert (ran.stderr == "") == (code == 0 or "2>&-" in closed)


def test_a_closed_stderr_does_not_get_into_a_file(tmp_path):
    """The first file opened would get descriptor 2, and with it every message."""
    ran = shell(f"{COMMAND} assets show mug -n 1 --out {tmp_path} 2>&-")
    assert ran.returncode == 0
    assert (tmp_path / "objects-mug.png").read_bytes().endswith(b"IEND\xaeB`\x82")


@pytest.mark.parametrize(
    ("arguments", "code"), [("robots list", 0), ("assets list --json", 0), ("parse 'pick up the unicorn' 2>&1", 2)]
)
def test_a_reader_that_leaves_early_does_not_change_the_exit_code(arguments, code):
    ran = shell(f"{COMMAND} {arguments} | true; echo ${{PIPESTATUS[0]}}")
    assert ran.stdout == f"{code}\n" and ran.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", ["robots list", "assets list --json"])
def test_output_that_cannot_be_written_is_said(arguments):
    ran = shell(f"{COMMAND} {arguments} > /dev/full")
    assert ran.returncode == 2 and ran.stderr.startswith("armwright: cannot write: No space left on device.")
    assert len(ran.stderr.splitlines()) == 1


def test_a_narrow_encoding_loses_no_output():
    ran = armwright("doctor", PYTHONIOENCODING="ascii", OPENAI_API_KEY="")
    assert "UnicodeEncodeError" not in ran.stderr and "_API_KEY" in ran.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        (b"parse", b"pick up the caf\xe9"),
        (b"run", b"pick up the mug", b"--robot", b"\xff"),
        (b"parse", b"pick up the mug", b"--model", b"openai:\xc3("),
        (b"generate", b"pick up the mug", b"--out", b"/tmp/\xe9"),
        (b"bench", b"--task", b"\xed\xa0\x80"),
        (b"dataset", b"verify", b"\xfe"),
        (b"assets", b"show", b"m\xfcg"),
        (b"r\xfcn",),
    ],
)
def test_bytes_that_are_no_text_are_refused(arguments):
    ran = armwright(*arguments)
    assert ran.returncode == 2 and ran.stdout == "" and "Traceback" not in ran.stderr
    assert f"argument {len(arguments)} is not valid UTF-8: " in ran.stderr and len(ran.stderr.splitlines()) == 1


@pytest.mark.parametrize("length", [201, 4900, 100_000])
@pytest.mark.parametrize(
    "arguments", [("parse",), ("robots", "show"), ("parse", SENTENCE, "--model"), ("bench", "--rollouts"), ("assets",)]
)
def test_a_huge_argument_gets_a_short_message(cli, arguments, length):
    ran = cli(*arguments, "x" * length)
    assert ran.code == 2 and ran.out == "" and len(ran.err) < 1500 and "Traceback" not in ran.err


def test_a_path_that_is_too_long_is_refused(cli):
    ran = cli("robots", "show", "franka", "--out", "x" * 4900)
    assert ran.code == 2 and "File name too long" in ran.err and "Traceback" not in ran.err


@pytest.mark.parametrize("value", ["", "egl", "EGL", "osmesa", "glfw", "glx", "wgl", "disable", "nonsense", "0"])
def test_the_renderer_is_chosen_whatever_mujoco_gl_says(value, tmp_path):
    ran = armwright("assets", "show", "mug", "-n", "1", "--out", str(tmp_path), MUJOCO_GL=value)
    assert ran.returncode == 0, ran.stderr
    assert (tmp_path / "objects-mug.png").stat().st_size > 1000


@pytest.mark.parametrize("value", ["nonsense", "osmesa", "egl", ""])
def test_the_renderer_is_chosen_whatever_pyopengl_platform_says(value, tmp_path):
    ran = armwright("assets", "show", "mug", "-n", "1", "--out", str(tmp_path), PYOPENGL_PLATFORM=value)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("number", "code", "word"),
    [(signal.SIGINT, 130, "interrupted"), (signal.SIGTERM, 143, "terminated"), (signal.SIGHUP, 129, "terminated")],
)
def test_a_signal_inside_a_callback_from_c_is_not_lost(number, code, word):
    run = subprocess.Popen(
        [sys.executable, "-c", SWALLOWING], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert run.stdout is not None and run.stdout.readline() == "inside\n"
    run.send_signal(number)
    _, err = run.communicate(timeout=30)
    assert run.returncode == code and err == f"armwright: {word}; what was finished is kept.\n"


def test_a_second_interrupt_ends_at_once():
    run = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None and run.stdout.readline() == "inside\n"
    run.send_signal(signal.SIGINT)
    assert run.stdout.readline() == "cleaning up\n"
    run.send_signal(signal.SIGINT)
    _, err = run.communicate(timeout=30)
    assert run.returncode == 130 and "Traceback" not in err


def test_an_interrupt_while_modules_are_imported_is_said():
    """The import hook stands in for a key pressed at that moment."""
    code = (
        "import os, signal, sys\n"
        "class Press:\n"
        "    def find_spec(self, name, path, target=None):\n"
        "        if name == 'armwright.cli.generate': os.kill(os.getpid(), signal.SIGINT)\n"
        "sys.meta_path.insert(0, Press())\n"
        "sys.argv = ['armwright', 'robots', 'list']\n"
        "from armwright.cli.main import main\n"
        "main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 130 and ran.stdout == ""
    assert ran.stderr == "armwright: interrupted; what was finished is kept.\n"


def test_what_the_parent_ignores_stays_ignored():
    """As nohup and a shell's background jobs ask for."""
    code = (
        "import signal\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "from armwright.cli import main as entry\n"
        "entry._command = lambda: signal.raise_signal(signal.SIGINT) or 0\n"
        "entry.main()\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ran.returncode == 0 and ran.stderr == ""


def test_handlers_are_put_back(cli):
    before = [signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)], sys.unraisablehook, os.environ.copy()
    assert json.loads(cli("robots", "list", "--json").out)
    assert before == ([signal.getsignal(n) for n in (signal.SIGINT, signal.SIGTERM)], sys.unraisablehook, os.environ)
