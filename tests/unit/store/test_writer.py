# SPDX-License-Identifier: BSD-3-Clause
from __future__ import annotations

import os
import resource
import subprocess
import sys

import pytest
import sample_atlas

from cartographer.errors import StoreError
from cartographer.store import database, operator_rows, writer
from cartographer.store.reader import Reader


def test_a_failed_write_leaves_the_old_atlas_whole(tmp_path, monkeypatch):
    writer.write(sample_atlas.atlas("1.0.0"), tmp_path)
    before = (tmp_path / "atlas.db").read_bytes()
    monkeypatch.setattr(operator_rows, "write", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        writer.write(sample_atlas.atlas("2.0.0"), tmp_path)
    assert (tmp_path / "atlas.db").read_bytes() == before
    assert [p.name for p in tmp_path.iterdir()] == ["atlas.db"]


def test_a_new_write_takes_the_place_of_the_old_one_while_it_is_read(tmp_path):
    writer.write(sample_atlas.atlas("1.0.0"), tmp_path)
    with Reader(tmp_path) as old:
        writer.write(sample_atlas.atlas("2.0.0"), tmp_path)
        assert old.info().source.version == "1.0.0"
        with Reader(tmp_path) as new:
            assert new.info().source.version == "2.0.0"


def test_leftovers_of_killed_builds_go_those_of_living_ones_stay(tmp_path):
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    (tmp_path / f".atlas.db.{dead.pid}.new").touch()
    (tmp_path / f".atlas.db.{os.getppid()}.new").touch()
    writer.write(sample_atlas.atlas(), tmp_path)
    assert sorted(p.name for p in tmp_path.iterdir()) == [f".atlas.db.{os.getppid()}.new", "atlas.db"]


def test_full_disk(tmp_path):
    """The limit on the size of files gives SQLite the error that a full disk gives."""
    import signal

    writer.write(sample_atlas.atlas("1.0.0"), tmp_path)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    old = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, hard))
    try:
        with pytest.raises(StoreError) as caught:
            writer.write(sample_atlas.atlas("2.0.0"), tmp_path)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, old)
    assert caught.value.hint
    assert "damaged" not in caught.value.message
    with Reader(tmp_path) as reader:
        assert reader.info().source.version == "1.0.0"


@pytest.mark.parametrize("where", ["/proc/nothing", "/dev/null"])
def test_unwritable_output(where):
    from pathlib import Path

    for attempt in (lambda: writer.check_writable(Path(where)), lambda: writer.write(sample_atlas.atlas(), Path(where))):
        with pytest.raises(StoreError) as caught:
            attempt()
    assert caught.value.where
    assert "--out" in caught.value.hint


def test_two_operators_of_one_name_are_refused(tmp_path):
    import dataclasses

    sample = sample_atlas.atlas()
    with pytest.raises(StoreError, match=r"operator\.name"):
        writer.write(dataclasses.replace(sample, operators=sample.operators * 2), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert database.FILE_NAME == "atlas.db"


_LOOP = """
import sys; sys.path.insert(0, {tests!r})
from pathlib import Path
import sample_atlas
from cartographer.store import writer
print("ready", flush=True)
while True:
    writer.write(sample_atlas.atlas("2.0.0"), Path({folder!r}))
"""


def _writers(folder, number):
    from pathlib import Path

    script = _LOOP.format(tests=str(Path(__file__).parent), folder=str(folder))
    running = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for _ in range(number)]
    for process in running:
        assert process.stdout.readline() == "ready\n"
    return running


def test_kill_in_the_middle_leaves_a_whole_atlas(tmp_path):
    import random
    import time

    writer.write(sample_atlas.atlas("1.0.0"), tmp_path)
    moments = random.Random(7)
    for _ in range(4):
        (process,) = _writers(tmp_path, 1)
        time.sleep(moments.uniform(0, 0.1))
        process.kill()
        process.communicate()
        with Reader(tmp_path) as reader:
            assert len(list(reader.operators())) == 5
    writer.write(sample_atlas.atlas("3.0.0"), tmp_path)
    assert [p.name for p in tmp_path.iterdir()] == ["atlas.db"]


def test_two_writers_at_once(tmp_path):
    import time

    writer.write(sample_atlas.atlas("1.0.0"), tmp_path)
    running = _writers(tmp_path, 2)
    end = time.monotonic() + 1
    while time.monotonic() < end:
        with Reader(tmp_path) as reader:
            assert len(list(reader.operators())) == 5
    for process in running:
        assert process.poll() is None, process.stderr.read()
        process.kill()
        process.communicate()
