# SPDX-License-Identifier: BSD-3-Clause
import os
import signal
import threading

import pytest

from cartographer.processes import beside, none_left
from cartographer.progress import interrupts_held


@pytest.fixture(autouse=True)
def answered():
    """As at a terminal: a background job, which ignores Ctrl-C, may run these tests too."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt():
    os.kill(os.getpid(), signal.SIGINT)


def test_it_comes_at_the_end_of_the_block():
    done = []

    def work():
        with interrupts_held():
            interrupt()
            done.append("the rest")

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == ["the rest"]
    with pytest.raises(KeyboardInterrupt):
        interrupt()


def test_it_comes_inside_where_it_is_asked_for_and_once():
    with interrupts_held() as answer:
        answer()
        interrupt()
        with pytest.raises(KeyboardInterrupt):
            answer()
        answer()


def test_a_block_in_a_block_hands_it_on():
    with interrupts_held() as answer:
        with interrupts_held():
            interrupt()
        with pytest.raises(KeyboardInterrupt):
            answer()


def test_what_ignores_it_goes_on_ignoring_it():
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with interrupts_held() as answer:
        interrupt()
        answer()
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


def test_in_another_thread_nothing_changes():
    found = []

    def work():
        with interrupts_held() as answer:
            answer()
            found.append(signal.getsignal(signal.SIGINT))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [signal.default_int_handler]


def test_no_work_beside_is_left_by_it(monkeypatch):
    """It comes when the copy has been made, but before anybody knows it."""
    made = []
    monkeypatch.setattr("cartographer.processes.Beside.__init__", lambda self, work, process, answer: (
        made.append(process), setattr(self, "_work", work), setattr(self, "_process", process), setattr(self, "_answer", answer), interrupt(),
    )[-1])
    with pytest.raises(KeyboardInterrupt), none_left():
        beside(lambda: threading.Event().wait(60))
    assert [process.is_alive() for process in made] == [False]
