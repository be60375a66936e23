# SPDX-License-Identifier: BSD-3-Clause
"""kill -9 at random moments of a build: `python tests/fuzz/kills.py TREE [--kills 50] [--seed 0] [--keep FOLDER] [--share 100]`.

TREE is an unpacked PyTorch; every SHARE-th source file of it, a sixteenth of its operators and what a build cannot do without make two small trees, an old and a new one. A build of the new
over the atlas of the old is killed again and again, with a cold cache or a warm one, one worker or two. After each kill the folder must hold the old atlas or the new
one, whole; then a build that nobody disturbs must give what it gives elsewhere, byte for byte.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import random
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import zlib
from pathlib import Path

from cartographer.query import export
from cartographer.store.reader import Reader

ROOT = Path(__file__).parents[2]


NEEDED = ("torchgen/", "tools/autograd/", "aten/src/ATen/native/native_functions.yaml", "aten/src/ATen/native/tags.yaml", "aten/src/ATen/templates/", "c10/core/",
          "torch/__init__.py", "torch/library.py", "torch/_ops.py", "torch/version.py", "version.txt", "aten/src/ATen/core/dispatch/", "torch/library.h")  # fmt: skip
ENDS = (".cpp", ".cu", ".cuh", ".h", ".mm", ".metal", ".py", ".cc", ".c", ".yaml")


def subset(tree: Path, folder: Path, share: int) -> None:
    """What a build needs, and each `share`-th source file."""
    files = sorted(p.relative_to(tree).as_posix() for p in tree.rglob("*") if p.is_file() and not p.is_symlink())
    sources = [path for path in files if path.endswith(ENDS) and path.startswith(("aten/", "c10/", "torch/"))]
    for path in {*sources[::share], *(path for path in files if path.startswith(NEEDED))}:
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(tree / path, folder / path)
    thinned(folder / "aten/src/ATen/native/native_functions.yaml", "func", 16)
    thinned(folder / "tools/autograd/derivatives.yaml", "name", 16)
    thinned(folder / "tools/autograd/deprecated.yaml", "name", 16)


def thinned(listed: Path, key: str, share: int) -> None:
    """A yaml list with one family of operators in `share`."""
    head, *rows = ("\n" + listed.read_text(encoding="utf-8")).split(f"\n- {key}: ")
    kept = [row for row in rows if zlib.crc32(re.match(r"_*([a-z0-9]*)", row)[1].encode()) % share == 0]
    listed.write_text(head + "".join(f"\n- {key}: {row}" for row in kept), encoding="utf-8")


def edited(old: Path, new: Path) -> None:
    """The next release: some functions more, an operator less."""
    shutil.copytree(old, new)
    for number, path in enumerate(sorted(new.rglob("*.cpp"))):
        if number % 20 == 0:
            path.write_text("// one more line\n" + path.read_text(encoding="utf-8", errors="replace") + f"\nstatic int added_{number}() {{ return {number}; }}\n", encoding="utf-8")
    listed = new / "aten/src/ATen/native/native_functions.yaml"
    listed.write_text(listed.read_text(encoding="utf-8") + "\n- func: quite_new(Tensor self) -> Tensor\n  dispatch:\n    CPU: quite_new_cpu\n", encoding="utf-8")


def command(source: Path, out: Path, jobs: int) -> list[str]:
    return [sys.executable, "-m", "cartographer", "build", "--source", str(source), "--out", str(out), "-j", str(jobs), "-q"]


def environment(cache: Path) -> dict[str, str]:
    return {**os.environ, "CARTOGRAPHER_CACHE": str(cache), "PYTHONPATH": str(ROOT)}


def built(source: Path, out: Path, cache: Path, jobs: int = 2) -> float:
    """Build to the end; the seconds that it took."""
    start = time.monotonic()
    done = subprocess.run(command(source, out, jobs), env=environment(cache), capture_output=True, text=True, check=False, timeout=1200)
    if done.returncode or done.stderr:
        raise SystemExit(f"a build that nobody disturbs failed ({done.returncode}):\n{done.stderr}")
    return time.monotonic() - start


def fingerprint(out: Path) -> dict[str, str]:
    """Every file of an atlas with its digest; of the database the contents, row by row, times aside."""
    made = {}
    for path in sorted(out.rglob("*")):
        name = path.relative_to(out).as_posix()
        if path.is_file() and not path.is_symlink() and name != "atlas.db" and not name.startswith("."):
            made[name] = hashlib.sha256(path.read_bytes()).hexdigest()
    connection = sqlite3.connect(f"file:{out / 'atlas.db'}?mode=ro&immutable=1", uri=True)
    digest = hashlib.sha256()
    for name, statement in connection.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY name").fetchall():
        if not statement.startswith("CREATE VIRTUAL"):  # what such a table holds stands in tables of its own
            for row in connection.execute(f'SELECT * FROM "{name}"'):
                if not (name == "meta" and row[0] == "seconds"):
                    digest.update(repr(row).encode("utf-8", "surrogatepass"))
    connection.close()
    made["atlas.db"] = digest.hexdigest()
    with Reader(out) as reader:
        made["export"] = hashlib.sha256("\n".join(export.lines(reader)).encode()).hexdigest()
    return made


def differences(one: dict[str, str], other: dict[str, str]) -> list[str]:
    return [name for name in sorted({*one, *other}) if one.get(name) != other.get(name)]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("tree", type=Path)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--share", type=int, default=100)
    parser.add_argument("--keep", type=Path, help="where to work; the folder stays")
    given = parser.parse_args()
    place = given.keep or Path(tempfile.mkdtemp(prefix="cartographer-kills-"))
    place.mkdir(parents=True, exist_ok=True)
    rng = random.Random(given.seed)
    old, new = place / "old-source", place / "new-source"
    for path in (old, new, place / "of-old", place / "of-new", place / "work"):
        shutil.rmtree(path, ignore_errors=True)
    subset(given.tree, old, given.share)
    edited(old, new)
    warm = place / "cache"
    shutil.rmtree(warm, ignore_errors=True)
    first = built(old, place / "of-old" / "atlas", warm)
    kept = place / "cache-of-old"
    shutil.rmtree(kept, ignore_errors=True)
    shutil.copytree(warm, kept)
    second = built(new, place / "of-new" / "atlas", warm)
    whole = {"old": fingerprint(place / "of-old" / "atlas"), "new": fingerprint(place / "of-new" / "atlas")}
    print(f"{sum(1 for p in old.rglob('*') if p.is_file())} files; the old atlas took {first:.1f} s, the new one {second:.1f} s", flush=True)
    out, cache = place / "work" / "atlas", place / "work" / "cache"
    failed = 0
    seen: dict[str, int] = {}
    for number in range(given.kills):
        jobs, cold = rng.choice((1, 2)), rng.random() < 0.4
        shutil.rmtree(place / "work", ignore_errors=True)
        shutil.copytree(place / "of-old" / "atlas", out)
        if not cold:
            shutil.copytree(kept, cache)
        wait = rng.random() * (first if cold else second) * (1.6 if jobs == 1 and cold else 1.1)
        child = subprocess.Popen(command(new, out, jobs), env=environment(cache), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        time.sleep(wait)
        os.killpg(child.pid, signal.SIGKILL)
        code = child.wait()
        after = fingerprint(out)
        state = next((name for name, known in whole.items() if known == after), "BROKEN")
        built(new, out, cache)
        rest = differences(fingerprint(out), whole["new"])
        left = [p.name for p in out.iterdir() if p.name.startswith(".") and p.name not in {q.name for q in (place / "of-new" / "atlas").iterdir()}]
        ended = "killed" if code == -signal.SIGKILL else "had ended"
        seen[f"{state}, {ended}"] = seen.get(f"{state}, {ended}", 0) + 1
        bad = state == "BROKEN" or rest or left
        failed += bool(bad)
        print(f"{number + 1:>3}  after {wait:>5.1f} s  {jobs} worker{'s' * (jobs > 1)}  {'cold' if cold else 'warm'} cache  {ended}: {state}"
              + (f"  WRONG: {differences(after, whole['old'])[:4]} {rest[:4]} {left}" if bad else ""), flush=True)  # fmt: skip
    print(f"{given.kills} kills, {failed} failures: {', '.join(f'{count} {what}' for what, count in sorted(seen.items()))}")
    if given.keep is None:
        shutil.rmtree(place, ignore_errors=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
