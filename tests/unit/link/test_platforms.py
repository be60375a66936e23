# SPDX-License-Identifier: BSD-3-Clause
"""One row is all that linking needs to know of a device."""

import pytest

from cartographer.link.device import answers, atom_holds, device_named
from cartographer.link.guards import World
from cartographer.link.index import device_of
from cartographer.link.platforms import BY_DEVICE, DEVICE_OF_FOLDER, PLATFORMS, SWITCHES

NATIVE = "aten/src/ATen/native"
each = pytest.mark.parametrize("platform", PLATFORMS, ids=lambda platform: platform.device)


def test_no_folder_is_that_of_two_devices() -> None:
    assert len(DEVICE_OF_FOLDER) == sum(len(platform.folders) for platform in PLATFORMS)
    assert len(BY_DEVICE) == len(PLATFORMS)


@each
def test_a_folder_makes_its_files_those_of_the_device(platform) -> None:
    assert {device_of(f"{NATIVE}/{folder}/Copy.cpp") for folder in platform.folders} == {platform.device}


@each
def test_its_build_has_its_own_accelerator_and_no_other(platform) -> None:
    world = World(platform.device)
    assert [world.holds(f"USE_{switch}") for switch in SWITCHES] == [True if switch == platform.switch else None for switch in SWITCHES]


@each
def test_conditions_ask_for_it_by_its_name(platform) -> None:
    upper = platform.device.upper()
    spelled = (f"self.is_{platform.device}()", f"device == k{upper}", f"type == DeviceType::{upper}", f"type == at::k{platform.device.capitalize()}")
    others = [other.device for other in PLATFORMS if other is not platform]
    for term in spelled:
        assert atom_holds(term, answers(platform.device, "")) is True, term
        assert not any(atom_holds(term, answers(other, "")) for other in others), term
    assert atom_holds(f"case DeviceType::{upper}", answers(others[0], "")) is False
    assert device_named((f"at::k{upper}", "iter")) == platform.device
