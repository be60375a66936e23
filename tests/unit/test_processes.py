# SPDX-License-Identifier: BSD-3-Clause
import dataclasses
import gc
import multiprocessing
import os
import pickle
import time

import pytest

from cartographer import processes
from cartographer.checkout.demo import make_demo_repository
from cartographer.checkout.open import SourceRequest
from cartographer.errors import ScanError
from cartographer.pipeline import reading
from cartographer.pipeline.building import BuildRequest, build
from cartographer.processes import beside, collector_at_rest, none_left


def test_the_work_is_done_in_another_process_and_its_result_comes_back():
    begun = beside(lambda: (os.getpid(), {"a": ("b", 1)}))
    pid, found = begun.result()
    assert found == {"a": ("b", 1)}
    assert (pid == os.getpid()) is not processes.can_fork()


@pytest.mark.parametrize("workers", [0, 1])
def test_one_worker_begins_nothing(workers):
    asked = []
    begun = beside(lambda: asked.append(os.getpid()), workers=workers)
    assert asked == []
    begun.result()
    assert asked == [os.getpid()]


def test_a_platform_without_copies_does_the_work_itself(monkeypatch):
    monkeypatch.setattr(processes, "can_fork", lambda: False)
    assert beside(os.getpid).result() == os.getpid()


def test_a_process_that_ends_before_its_time_costs_no_result():
    here = os.getpid()

    def work():
        if os.getpid() != here:
            os.kill(os.getpid(), 9)
        return "done"

    assert beside(work).result() == "done"


def test_an_error_is_raised_where_the_result_is_wanted():
    def work():
        raise ScanError("no such file", hint="look again")

    begun = beside(work)
    with pytest.raises(ScanError, match="no such file"):
        begun.result()


def test_a_result_that_cannot_travel_is_made_here():
    found = beside(lambda: lambda: "here").result()
    assert found() == "here"


def test_large_results_do_not_block():
    assert len(beside(lambda: b"x" * 3_000_000).result()) == 3_000_000


def test_a_result_that_nobody_waits_for_keeps_no_process():
    begun = beside(lambda: b"x" * 3_000_000)
    process = begun._process
    del begun
    process.join(20)
    assert process.exitcode == 0


def test_what_fails_before_it_asks_leaves_no_process():
    @none_left()
    def stage(begun):
        begun.append(beside(lambda: time.sleep(600)))
        raise ScanError("no such file")

    begun = []
    with pytest.raises(ScanError):
        stage(begun)
    assert not begun[0]._process.is_alive()
    assert multiprocessing.active_children() == []


def test_a_stage_that_fails_ends_what_was_begun_beside_it(tmp_path, monkeypatch):
    def fails(*_, **__):
        raise ScanError("a disk that cannot be read")

    monkeypatch.setattr(reading, "scan", fails)
    monkeypatch.setattr(reading, "derived", lambda *_: time.sleep(600))
    repository = make_demo_repository(tmp_path / "mini.git")
    request = BuildRequest(SourceRequest(version="v0.1.0", repo=str(repository), cache=tmp_path / "cache"), tmp_path / "out", html=False)
    with pytest.raises(ScanError) as kept:  # and its frames with it
        build(request)
    assert kept.value.message == "a disk that cannot be read"
    assert multiprocessing.active_children() == []


def test_results_are_taken_inside():
    with none_left():
        begun = beside(os.getpid)
        assert begun.result() != os.getpid()
        assert beside(os.getpid).result() != os.getpid()
        left = beside(os.getpid)
    assert left.result() == os.getpid()


def test_work_in_a_copy_that_begins_work_is_done_once(tmp_path):
    def work():
        with (tmp_path / "done").open("a") as told:
            told.write("x")
        return os.getpid(), beside(os.getpid).result()

    outer, inner = beside(work).result()
    assert outer == inner != os.getpid()
    assert (tmp_path / "done").read_text() == "x"


def test_the_collector_is_as_it_was_before():
    assert gc.isenabled()
    with collector_at_rest():
        assert not gc.isenabled()
        with collector_at_rest():
            pass
        assert not gc.isenabled()
    assert gc.isenabled()


@dataclasses.dataclass(frozen=True, slots=True)
class Place:
    path: str
    line: int


@dataclasses.dataclass(frozen=True, slots=True)
class Step(Place):
    around: Place | None = None


@dataclasses.dataclass(frozen=True, slots=True)
class Alone:
    name: str


@dataclasses.dataclass(frozen=True)
class Loose:
    path: str
    line: int


def test_dataclasses_travel_as_they_are():
    shared = Place("a.cpp", 1)
    sent = [Step("b.cpp", 2, shared), shared, Alone("x"), Loose("c.cpp", 3), (shared,)]
    found = pickle.loads(processes.packed(sent))
    assert found == sent
    assert [type(item) for item in found] == [type(item) for item in sent]
    assert found[0].around is found[1] is found[4][0]
    with pytest.raises(dataclasses.FrozenInstanceError):
        found[1].line = 2


def test_a_dataclass_is_sent_without_its_own_way_of_being_sent():
    assert b"_restored" in processes.packed(Place("a.cpp", 1))
    assert b"_restored" not in processes.packed(Loose("a.cpp", 1))


def in_order(*arguments, **options):
    return sorted(processes.in_turns(*arguments, **options))


@pytest.mark.parametrize("here", [False, True])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 499, 500, 501, 2300])
def test_each_number_has_one_turn(count, here):
    assert in_order(lambda number: number * 2, count, 3, here=here) == [number * 2 for number in range(count)]
    assert multiprocessing.active_children() == []


def test_turns_are_taken_by_copies_and_by_this_process():
    def work(number):
        time.sleep(0.01)
        return os.getpid()

    elsewhere = set(processes.in_turns(work, 40, 2))
    assert len(elsewhere) == 2
    assert os.getpid() not in elsewhere
    assert os.getpid() in set(processes.in_turns(work, 40, 2, here=True))


class OddError(Exception):
    def __init__(self, *, needed):
        super().__init__(f"odd {needed}")


@pytest.mark.parametrize(("error", "told", "words"), [(OSError(28, "full"), OSError, "full"), (OddError(needed=3), RuntimeError, "OddError: odd 3")])
def test_what_work_raises_in_a_copy_is_raised_here(error, told, words):
    def work(number):
        if number == 7:
            raise error
        return number

    with pytest.raises(told, match=words):
        in_order(work, 60, 2)
    assert multiprocessing.active_children() == []


@pytest.mark.parametrize("here", [False, True])
def test_a_copy_that_is_killed_is_one_error_and_the_others_end(here):
    mine = os.getpid()

    def work(number):
        if os.getpid() != mine and number > 5:
            os.kill(os.getpid(), 9)
        time.sleep(0.01)
        return number

    with pytest.raises(processes.ProcessEndedError):
        in_order(work, 60, 3, here=here)
    assert multiprocessing.active_children() == []


def test_turns_that_nobody_wants_any_more_end_the_copies():
    turns = processes.in_turns(lambda number: bytes(1_000_000), 60, 2)
    next(turns)
    turns.close()
    assert multiprocessing.active_children() == []
