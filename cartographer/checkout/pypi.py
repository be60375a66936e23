# SPDX-License-Identifier: BSD-3-Clause
"""Gets the smallest wheel of a release, through pip and whatever package index it is set up for."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from cartographer.checkout.cache import Cache
from cartographer.checkout.refs import near_misses, numbers, release_order
from cartographer.checkout.versions import release_of
from cartographer.errors import CheckoutError, UnknownVersion

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cartographer.progress import Progress

KIND = "wheels"
FIRST_WITH_LISTS = (1, 12)  # torchgen, and with it the operator lists, is packed since then
# From the smallest to the largest: a macOS wheel is some 80 MB, Windows 200, Linux for CUDA up to 900. pip takes
# "macosx_20_0" for every older macOS as well.
PLATFORMS = (
    ("macosx_20_0_arm64",),
    ("macosx_20_0_x86_64",),
    ("manylinux_2_28_aarch64", "manylinux2014_aarch64"),
    ("win_amd64",),
    ("manylinux_2_28_x86_64", "manylinux2014_x86_64", "manylinux1_x86_64", "linux_x86_64"),
)
_NEW_PYTHONS = ("3.12", "3.13", "3.11", "3.10", "3.14", "3.9")  # 2.2 and later have 3.12
_OLD_PYTHONS = ("3.10", "3.8", "3.9", "3.7", "3.11", "3.6")
_DOWNLOADING = re.compile(r"Downloading \S*?torch-\S+\.whl(?:\.metadata)? \((?P<size>[\d.]+) (?P<unit>[kMG]?B)\)")
_UNITS = {"B": 1e-6, "kB": 1e-3, "MB": 1.0, "GB": 1e3}
_ABSENT = ("No matching distribution", "Could not find a version", "ResolutionImpossible", "conflicting dependencies")


def find_wheel(version: str, cache: Cache, progress: Progress, *, offline: bool = False) -> Path:
    """The path of a wheel of this release: from the cache, or downloaded into it."""
    release = release_of(version.removeprefix("v"))
    if () < numbers(release) < FIRST_WITH_LISTS:
        raise CheckoutError(
            f"the wheels of torch {release} carry no operator list: they do since 1.12", hint="an older release is read from a clone: --repo PATH-or-URL",
        )
    kept = kept_wheel(release, cache)
    if kept is not None:
        return kept
    if offline:
        raise CheckoutError(f"no wheel of {release} is in the cache, and --offline forbids to fetch one", hint="leave out --offline")
    if not cache.writable:
        passing = Cache.passing()
        progress.note(f"the wheel is kept in {passing.root} until this build ends")
        return _download(release, passing.folder(KIND), progress)
    with cache.lock(f"{KIND}-{release}", progress):
        return kept_wheel(release, cache) or _download(release, cache.folder(KIND, release), progress)


def kept_wheel(release: str, cache: Cache) -> Path | None:
    """The smallest wheel of this release in the cache; None when there is none."""
    found = (cache.root / KIND / release).glob("torch-*.whl")
    return min(found, key=lambda path: (path.stat().st_size, path.name), default=None)


def known_releases() -> tuple[str, ...]:
    """The releases in pip's index, oldest first; () when pip cannot tell."""
    found: set[str] = set()
    for options in ((), ("--only-binary=:all:", "--python-version", "3.8", "--platform", PLATFORMS[1][0])):
        done = _pip("index", "versions", "torch", *options)
        listed = re.search(r"^Available versions: (.+)$", done.stdout, re.MULTILINE)
        if listed:
            found.update(release_of(version) for version in listed[1].split(", "))
    return tuple(sorted(found, key=release_order))


def _download(release: str, folder: Path, progress: Progress) -> Path:
    """Try platforms from the smallest wheel on; the file appears in `folder` whole or not at all."""
    pythons = _NEW_PYTHONS if numbers(release) >= (2, 2) else _OLD_PYTHONS
    for left in folder.glob("part-*"):
        shutil.rmtree(left, ignore_errors=True)
    last = ""
    tries = [(platform, python) for platform in PLATFORMS for python in pythons]
    progress.stage(f"asking the package index for torch {release}", len(tries))
    for count, (platform, python) in enumerate(tries):
        with tempfile.TemporaryDirectory(prefix="part-", dir=folder) as part:
            last = _try(release, platform, python, part, progress)
            for wheel in Path(part).glob("torch-*.whl"):
                return wheel.replace(folder / wheel.name)
        if last and not any(word in last for word in _ABSENT):
            break  # not absence: no network, no disk
        if count == 0 and (known := known_releases()) and release not in known:
            raise _no_release(release, known)
        progress.step()
    if any(word in last for word in _ABSENT):
        raise _no_release(release, known_releases())
    full = "No space left" in last
    raise CheckoutError(
        f"pip could not bring the wheel: {_last_words(last)}", where=f"torch {release}",
        hint="the disk is full: free some space, or let CARTOGRAPHER_CACHE name another disk" if full
        else "without a package index: --source FILE.whl reads a wheel at hand, --source DIR an unpacked tree, --repo PATH a clone",
    )


def _try(release: str, platform: tuple[str, ...], python: str, part: str, progress: Progress) -> str:
    """One pip download; gives what pip said on standard error."""
    arguments = [
        "download", "--no-deps", "--only-binary=:all:", "--implementation", "cp", "--python-version", python,
        *(word for tag in platform for word in ("--platform", tag)), "--progress-bar", "off", "--dest", part, f"torch=={release}",
    ]
    watch = _Watch(part, release, progress)
    return _pip(*arguments, place=part, watch=watch.line, poll=watch.poll).stderr


class _Watch:
    """Shows a running download: pip names the size, the growing file in its temporary folder tells how far it is."""

    def __init__(self, part: str, release: str, progress: Progress) -> None:
        self._part = part
        self._release = release
        self._progress = progress
        self._total = 0.0
        self._shown = 0

    def line(self, text: str) -> None:
        match = _DOWNLOADING.search(text)
        if match and ".metadata" not in match[0]:
            self._total = float(match["size"]) * _UNITS[match["unit"]]
            self._progress.stage(f"downloading the wheel of torch {self._release} (MB)", max(1, round(self._total)))

    def poll(self) -> None:
        if self._total:
            with contextlib.suppress(OSError):
                size = max((path.stat().st_size for path in Path(self._part).rglob("*.whl")), default=0)
                done = min(int(size / 1e6), round(self._total))
                if done > self._shown:
                    self._progress.step(done - self._shown)
                    self._shown = done


def _pip(
    *arguments: str, place: str | None = None, watch: Callable[[str], None] | None = None, poll: Callable[[], None] | None = None,
) -> subprocess.CompletedProcess[str]:
    """Run pip with its own settings; temporary files go to `place`, so that nothing is left elsewhere."""
    environment = {**os.environ, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8:replace"}
    environment.pop("PIP_REQUIRE_VIRTUALENV", None)
    if place is not None:
        environment["TMPDIR"] = place
    command = [sys.executable, "-m", "pip", *arguments]
    try:
        with subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", env=environment,
        ) as child:
            output, errors = _follow(child, watch, poll)
    except OSError as error:
        raise CheckoutError(f"pip cannot be run: {error.strerror}", where=sys.executable) from error
    if "No module named pip" in errors:
        raise CheckoutError(
            "pip is not installed beside this Python, so no wheel can be fetched", where=sys.executable,
            hint="install pip, or fetch the wheel by hand and give it with --source FILE.whl",
        )
    return subprocess.CompletedProcess(command, child.returncode, output, errors)


def _follow(child: subprocess.Popen[str], watch: Callable[[str], None] | None, poll: Callable[[], None] | None) -> tuple[str, str]:
    """Read both streams to their end while looking at the work from time to time."""
    said: dict[str, list[str]] = {"out": [], "err": []}
    readers = [
        threading.Thread(target=_collect, args=(stream, said[name], watch), daemon=True)
        for name, stream in (("out", child.stdout), ("err", child.stderr))
    ]
    for reader in readers:
        reader.start()
    try:
        while child.poll() is None:
            if poll is not None:
                poll()
            time.sleep(0.1)
    except BaseException:
        child.terminate()
        raise
    for reader in readers:
        reader.join()
    return "".join(said["out"]), "".join(said["err"])


def _collect(stream: Iterator[str] | None, lines: list[str], watch: Callable[[str], None] | None) -> None:
    for line in stream or ():
        lines.append(line)
        if watch is not None:
            watch(line)


def _no_release(release: str, known: tuple[str, ...]) -> UnknownVersion:
    near = near_misses(release, known)
    return UnknownVersion(
        f"the package index has no wheel of torch {release}",
        hint=f"did you mean {', '.join(near)}?" if near else "the repository may have it: build without --from wheel",
    )


def _last_words(errors: str) -> str:
    lines = [line.strip() for line in errors.splitlines() if line.strip() and not line.startswith("WARNING: Location")]
    return "; ".join(lines[-2:]) or "it gave no reason"
