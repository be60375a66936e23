# SPDX-License-Identifier: BSD-3-Clause
import pickle

from cartographer.link.sending import packed, unpacked
from cartographer.model.operator import Chain, Status, Step


def test_chains_arrive_as_they_were_sent():
    entry, device = Step("entry", "at::native::add", "a.cpp", 1), Step("device", "lambda", "a.cpp", 2, "runs in cpu_kernel", "n > 0")
    chains = [
        {"CPU": Chain(Status.RESOLVED, None, (entry, device)), "CUDA": Chain(Status.NONE, "no kernel for CUDA")},
        {},
        {"CPU": Chain(Status.RESOLVED, None, (Step("entry", "at::native::add", "a.cpp", 1),))},
    ]
    sent = packed(chains)
    assert len(sent.steps) == 2
    assert unpacked(pickle.loads(pickle.dumps(sent))) == chains
