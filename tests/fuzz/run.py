# SPDX-License-Identifier: BSD-3-Clause
"""Fuzzing by hand: `python tests/fuzz/run.py [--count N] [--seed N] [--tree PYTORCH] [--keep FOLDER] [NAME ...]`.

Each target gets N mutated inputs. What is no CartographerError, takes too much CPU time, or needs more than the memory allowed is a finding: it is printed once a
place, and its input kept. With --tree, files of a real PyTorch (up to 50 KB) are seeds too.
"""

from __future__ import annotations

import argparse
import faulthandler
import resource
import signal
import sys
import time
import traceback
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from targets import TARGETS, Target

from cartographer.errors import CartographerError

if TYPE_CHECKING:
    from collections.abc import Iterable

MEMORY = 3 << 30
_ENDS = {"cpp": (".cpp", ".cu", ".h", ".mm", ".metal"), "python": (".py",), "evaluator": (".py",), "cmake": ("CMakeLists.txt", ".cmake"), "registrations": (".cpp",), "expansion": (".h",)}


class Hang(BaseException):
    """An input took more than its time."""


def attempt(target: Target, data: bytes) -> str:
    """"" when all is well, else where and what: the last line of ours in the traceback, and the error's type."""

    def late(_number, _frame):
        raise Hang

    signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, target.seconds)
    try:
        target.attempt(data)
    except CartographerError:
        return ""
    except BaseException as error:
        signal.setitimer(signal.ITIMER_PROF, 0)
        if isinstance(error, KeyboardInterrupt):
            raise
        frames = [f for f in traceback.extract_tb(error.__traceback__) if "/cartographer/" in f.filename or "targets.py" in f.filename]
        place = f"{Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name}" if frames else "?"
        return f"{type(error).__name__} at {place}: {str(error)[:100]}"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
    return ""


def fuzz(target: Target, count: int, seed: int, more: list[bytes], keep: Path | None) -> tuple[int, float, dict[str, int]]:
    """Feed `count` inputs; gives (how many, the longest CPU time, findings by place)."""
    found: dict[str, int] = {}
    longest = 0.0
    for number, data in enumerate(target.inputs(seed, more)):
        if number == count:
            break
        start = time.process_time()
        said = attempt(target, data)
        took = time.process_time() - start
        if took > longest:
            longest = took
            if keep:
                (keep / f"{target.name}-slowest").write_bytes(data)
        if said:
            key = said.partition(": ")[0]
            found[key] = found.get(key, 0) + 1
            if found[key] == 1:
                print(f"   {target.name} #{number}: {said}", flush=True)
                if keep:
                    (keep / f"{target.name}-{len(found)}").write_bytes(data)
    return count, longest, found


def real_seeds(tree: Path, ends: Iterable[str], most: int = 150) -> list[bytes]:
    """Some files of a real tree, none above 50 KB."""
    files = [p for p in sorted(tree.rglob("*")) if p.name.endswith(tuple(ends)) and p.is_file() and 200 < p.stat().st_size <= 50_000]
    return [p.read_bytes() for p in files[:: max(1, len(files) // most)]][:most]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("names", nargs="*", default=[], help=", ".join(TARGETS))
    parser.add_argument("--count", type=int, default=1_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--tree", type=Path, help="a real PyTorch: its files are seeds too")
    parser.add_argument("--keep", type=Path, help="a folder for the inputs of findings")
    given = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    warnings.simplefilter("ignore")
    faulthandler.enable()
    if given.keep:
        given.keep.mkdir(parents=True, exist_ok=True)
    failed = False
    for name in given.names or TARGETS:
        target = TARGETS[name]
        more = real_seeds(given.tree, _ENDS[name]) if given.tree and name in _ENDS else []
        start, used = time.monotonic(), time.process_time()
        count, longest, found = fuzz(target, given.count, given.seed, more, given.keep)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"{name:<14} {count:>7} inputs  {time.process_time() - used:>7.1f} s CPU  {time.monotonic() - start:>7.1f} s  longest {longest * 1e3:>7.0f} ms  "
              f"peak {memory:.0f} MB  {sum(found.values())} findings at {len(found)} places", flush=True)  # fmt: skip
        failed = failed or bool(found)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
