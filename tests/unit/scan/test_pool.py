# SPDX-License-Identifier: BSD-3-Clause
import contextlib
import hashlib
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from cartographer.errors import ScanError
from cartographer.model.location import Language
from cartographer.scan import one, pool
from cartographer.scan.cache import FactCache, decode, encode, key_of
from cartographer.scan.cpp import scan_cpp
from cartographer.scan.one import FAILED, scan_file
from cartographer.scan.pool import gather, gather_from


def files(count: int) -> list[tuple[str, str, bytes]]:
    made = [(f"d/f{i}.cpp", f"void f{i}() {{ g{i}(); }}\n".encode()) for i in range(count)]
    return [(path, hashlib.sha1(data).hexdigest(), data) for path, data in made]


def test_round_trip() -> None:
    facts = scan_file("a.cpp", b"#define M(x) f(x)\nvoid f(int a) { g(a); }\nREGISTER(f)\n")
    assert decode(encode(facts)) == facts
    with pytest.raises(ValueError, match=r"incomplete|invalid|truncated"):
        decode(encode(facts)[:-4])


def test_one_key_a_content_language_and_scanner() -> None:
    assert key_of("a.cpp", "b1") == key_of("c/d.h", "b1")
    assert key_of("a.cpp", "b1") != key_of("a.cu", "b1")
    assert key_of("a.cpp", "b1") != key_of("a.cpp", "b2")
    assert key_of("a.cpp", "b1") != key_of("aten/src/ATen/native/a.cpp", "b1"), "bodies are read there"


@pytest.mark.parametrize("workers", [1, 2])
def test_everything_is_found_in_path_order(tmp_path: Path, workers: int) -> None:
    cache = FactCache(tmp_path / "facts.db")
    found = list(gather(reversed(files(60)), cache, workers).items())
    assert [path for path, _ in found] == sorted(path for path, _, _ in files(60))
    assert all(f.definitions[0].name == path[2:-4] for path, f in found)
    cache.close()


def test_what_is_kept_is_not_scanned_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "facts.db"
    cache = FactCache(path)
    first = dict(gather(files(5), cache, 1))
    cache.close()
    scanned: list[str] = []
    monkeypatch.setattr(pool, "scan_file", lambda p, data, bodies: (scanned.append(p), scan_file(p, data, bodies=bodies))[1])
    cache = FactCache(path)
    assert dict(gather(files(6), cache, 1)) == {**first, "d/f5.cpp": scan_file(*files(6)[5][::2], bodies=False)}
    assert scanned == ["d/f5.cpp"]
    cache.close()


def test_a_damaged_entry_is_scanned_again(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    cache = FactCache(path)
    whole = dict(gather(files(3), cache, 1))
    cache.close()
    with sqlite3.connect(path) as db:
        db.execute("UPDATE facts SET data = x'00112233'")
    db.close()
    cache = FactCache(path)
    assert dict(gather(files(3), cache, 1)) == whole
    assert len(list(cache.load([key_of(p, b) for p, b, _ in files(3)]))) == 3
    cache.close()


def test_a_damaged_or_unusable_file_costs_only_the_cache(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    path.write_bytes(b"this is no database, " * 100)
    cache = FactCache(path)
    assert cache.usable
    assert len(gather(files(2), cache, 1)) == 2
    cache.close()
    blocked = FactCache(tmp_path / "facts.db" / "below" / "a-file")
    assert not blocked.usable
    assert len(gather(files(2), blocked, 1)) == 2
    assert len(gather(files(2), FactCache(None), 1)) == 2


def test_a_page_of_rubbish_in_the_middle_is_survived(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    cache = FactCache(path)
    whole = dict(gather(files(200), cache, 1))
    cache.close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    path.write_bytes(data)
    cache = FactCache(path)
    assert dict(gather(files(200), cache, 1)) == whole
    assert dict(gather(files(200), cache, 1)) == whole
    assert len(list(cache.load([key_of(p, b) for p, b, _ in files(200)]))) == 200
    cache.close()


def test_a_cache_that_cannot_be_written_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "facts.db"
    cache = FactCache(path)
    gather(files(3), cache, 1)
    cache.close()
    connect = sqlite3.connect

    def denied(where: object, **more: object) -> sqlite3.Connection:
        if more.get("uri"):
            return connect(where, **more)  # type: ignore[call-overload, no-any-return]
        raise sqlite3.OperationalError("attempt to write a readonly database")

    monkeypatch.setattr(sqlite3, "connect", denied)
    cache = FactCache(path)
    assert len(list(cache.load([key_of(p, b) for p, b, _ in files(3)]))) == 3
    cache.keep([("x", b"1")])
    assert len(gather(files(4), cache, 1)) == 4
    cache.close()


def test_only_what_is_unknown_is_read(tmp_path: Path) -> None:
    cache = FactCache(tmp_path / "facts.db")
    gather(files(3), cache, 1)
    asked: list[str] = []

    def read(paths: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        wanted = list(paths)
        asked.extend(wanted)
        return ((p, d) for p, _, d in files(6) if p in wanted and p != "d/f5.cpp")

    found = gather_from({p: b for p, b, _ in files(6)}, read, cache, 1)
    assert asked == ["d/f3.cpp", "d/f4.cpp", "d/f5.cpp"]
    assert list(found) == [f"d/f{i}.cpp" for i in range(5)]
    cache.close()


def test_bodies_are_read_with_the_files_of_kernels_and_of_others_when_they_are_asked_for() -> None:
    text = b"RegisterOperators reg = op(f);\nint f(int a) { if (a) { return 0; }\n  g(a); return a; }\n"
    paths = ("aten/src/ATen/native/A.cpp", "torch/csrc/A.cpp")
    read: list[str] = []

    def reading(asked: Iterable[str]) -> Iterator[tuple[str, bytes]]:
        for path in asked:
            read.append(path)
            yield path, text

    found = gather_from(dict.fromkeys(paths, "b1"), reading, FactCache(None), 1)
    kernels, other = (found[path] for path in paths)
    assert (kernels.outlined, other.outlined) == (False, True)
    assert [[c.name for c in d.calls] for d in kernels.definitions] == [["op", "f"], ["g"]]
    assert [[c.name for c in d.calls] for d in other.definitions] == [["op", "f"], []], "a variable keeps what it is made from"
    assert kernels.definitions[1].exits
    assert not other.definitions[1].exits
    assert found.whole(paths[0]) is kernels
    assert found.whole(paths[1]) == kernels
    assert found.whole(paths[1]) is found.whole(paths[1])
    assert read == [*paths, paths[1]], "read once more, when it was asked for"


def test_what_cannot_be_read_again_keeps_its_outline() -> None:
    contents = {"a.cpp": b"void f() { g(); }\n"}
    found = gather_from({"a.cpp": "b1"}, lambda paths: [(p, contents[p]) for p in paths if p in contents], FactCache(None), 1)
    contents.clear()
    assert found.whole("a.cpp") == found["a.cpp"]


def test_a_failure_of_the_scanner_costs_one_file(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = {data for path, _, data in files(3) if path.endswith("f1.cpp")}

    def fails(data: bytes, language: Language, *, bodies: bool) -> object:
        if data in broken:
            raise RecursionError("deep")
        return scan_cpp(data, language, bodies=bodies)

    monkeypatch.setattr(one, "scan_cpp", fails)
    found = gather(files(3), FactCache(None), 1)
    assert found["d/f1.cpp"].notes == (f"{FAILED}: RecursionError: deep",)
    assert found["d/f1.cpp"].error_bytes > 0
    assert found["d/f2.cpp"].definitions


def _scan_or_end(path: str, data: bytes, *, bodies: bool) -> object:
    if path.endswith("f10000.cpp"):
        time.sleep(0.1)  # all are waited for by then
        os.kill(os.getpid(), signal.SIGKILL)
    return scan_file(path, data, bodies=bodies)


@pytest.mark.parametrize("workers", [2, 4])
def test_a_worker_that_is_killed_is_one_clear_error(monkeypatch: pytest.MonkeyPatch, workers: int) -> None:
    """As a system does that is short of memory: no traceback of a thread, and no worker is left that waits for ever."""
    stumbled: list[object] = []
    monkeypatch.setattr(threading, "excepthook", lambda told: stumbled.append(told.exc_value))
    monkeypatch.setattr(pool, "scan_file", _scan_or_end)
    monkeypatch.setattr(pool, "_BATCH_BYTES", 1)
    with pytest.raises(ScanError, match="ended before its time"):
        gather(files(20_000), FactCache(None), workers)
    assert stumbled == []
    assert multiprocessing.active_children() == []


def test_two_writers_at_once(tmp_path: Path) -> None:
    one, two = FactCache(tmp_path / "facts.db"), FactCache(tmp_path / "facts.db")
    one.keep([("a", b"1"), ("b", b"2")])
    two.keep([("b", b"2"), ("c", b"3")])
    assert dict(one.load("abc")) == dict(two.load("abc")) == {"a": b"1", "b": b"2", "c": b"3"}
    one.close()
    two.close()


WRITER = """
import sys
from pathlib import Path
from cartographer.scan.cache import FactCache
cache = FactCache(Path(sys.argv[1]))
print("ready", flush=True)
for round in range(100000):
    cache.keep([(f"{sys.argv[2]}-{round}-{i}", bytes(2000)) for i in range(20)])
"""


def test_killed_writers_leave_whole_batches(tmp_path: Path) -> None:
    path = tmp_path / "facts.db"
    for number in range(4):
        with subprocess.Popen([sys.executable, "-c", WRITER, str(path), str(number)], stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
            time.sleep(0.05 + 0.05 * number)
            writer.kill()
    with contextlib.closing(sqlite3.connect(path)) as db:
        assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        batches = db.execute("SELECT count(*) FROM facts GROUP BY substr(key, 1, instr(substr(key, 3), '-') + 2)").fetchall()
    assert batches
    assert {count for (count,) in batches} == {20}
    cache = FactCache(path)
    assert cache.usable
    assert len(gather(files(2), cache, 1)) == 2
    cache.close()


class Interrupting:
    """A progress during whose steps Ctrl-C is pressed."""

    def stage(self, name: str, total: int | None = None) -> None:
        pass

    def step(self, done: int = 1) -> None:
        if done:
            os.kill(os.getpid(), signal.SIGINT)

    def note(self, text: str) -> None:
        pass

    def close(self) -> None:
        pass


def test_ctrl_c_while_results_are_taken_leaves_no_process_and_no_thread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "_BATCH_BYTES", 100)
    cache = FactCache(tmp_path / "facts.db")
    threads = set(threading.enumerate())
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt) as told:
            gather(files(200), cache, 2, Interrupting())
        # The error, and so every frame that it came through, is still held here, as it is where it is told to the user.
        assert told.value is not None
        assert multiprocessing.active_children() == []
        assert set(threading.enumerate()) == threads
        kept = len(list(cache.load([key_of(p, b) for p, b, _ in files(200)])))
        assert 0 < kept < 200
    finally:
        signal.signal(signal.SIGINT, before)
        cache.close()
