# SPDX-License-Identifier: BSD-3-Clause
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cartographer.checkout import refs
from cartographer.errors import UnknownVersion, UsageError

A, B, C, D = (letter * 40 for letter in "abcd")


def test_a_tag_wins_over_a_branch_of_its_name() -> None:
    assert refs.pick("v1.1.0", {"refs/heads/v1.1.0": A, "refs/tags/v1.1.0": B}) == refs.Resolved(B, "refs/tags/v1.1.0")


@pytest.mark.parametrize(("asked", "ref"), [
    ("2.11.0", "refs/tags/v2.11.0"), ("v2.11.0", "refs/tags/v2.11.0"), ("main", "refs/heads/main"),
    ("refs/heads/main", "refs/heads/main"), ("heads/main", "refs/heads/main"), ("release", "refs/remotes/origin/release"),
])
def test_ways_to_write_a_version(asked: str, ref: str) -> None:
    known = {"refs/tags/v2.11.0": A, "refs/heads/main": B, "refs/remotes/origin/release": C, "refs/heads/2.11.0": D}
    found = refs.pick(asked, known)
    assert found is not None
    assert found.ref == ref


def test_whole_commit_ids_mean_themselves() -> None:
    assert refs.pick(A.upper(), {f"refs/heads/{A}": B}) == refs.Resolved(A, "")
    assert refs.pick("abcdefa", {}) is None


def test_annotated_tags_are_peeled() -> None:
    listing = f"{A} {B} refs/tags/v1\n{C}  refs/heads/main\n".encode()
    assert refs.parse_refs(listing) == {"refs/tags/v1": B, "refs/heads/main": C}
    remote = f"{A}\trefs/tags/v1\n{B}\trefs/tags/v1^{{}}\n{C}\trefs/heads/main\n".encode()
    assert refs.parse_remote_refs(remote) == {"refs/tags/v1": B, "refs/heads/main": C}


def test_near_misses() -> None:
    known = ["v2.10.0", "v2.11.0", "v2.11.1", "v2.11.0-rc1", "v1.7.0", "ciflow/trunk/1"]
    assert refs.near_misses("v2.11.5", known)[:2] == ("v2.11.0", "v2.11.1")
    assert refs.near_misses("2.11", known)[0] == "v2.11.0"
    assert "v2.11.0-rc1" in refs.near_misses("v2.11.0-rc2", known)
    assert "v2.11.1" in refs.near_misses("3.0.0", known)
    assert refs.near_misses("nonsense", known) == ()
    error = refs.unknown_version("v2.11.5", known, "somewhere")
    assert isinstance(error, UnknownVersion)
    assert "v2.11.1" in (error.hint or "")


@pytest.mark.parametrize("name", ["", "-x", "--upload-pack=evil", "a b", "a..b", "a:b", "a^", "a~1", "a\x00", "a\nb", "@{1}", "a*"])
def test_what_cannot_be_a_name_is_refused(name: str) -> None:
    with pytest.raises(UsageError):
        refs.check_version(name)


def test_release_order() -> None:
    tags = ["v2.10.0", "v2.9.1", "v2.10.0-rc1", "v1.13.1", "ciflow/x"]
    assert sorted(tags, key=refs.release_order) == ["ciflow/x", "v1.13.1", "v2.9.1", "v2.10.0-rc1", "v2.10.0"]
    assert [tag for tag in tags if refs.is_release(tag)] == ["v2.10.0", "v2.9.1", "v1.13.1"]


def test_a_post_release_is_a_release_after_its_own() -> None:
    tags = ["v1.0.1", "v1.0.0.post10", "v1.0.0-rc1", "v1.0.0.post2", "1.0.0.post2", "v1.0.0", "v1.post2", "v1.0.0a0", "v1.0.0.dev1"]
    assert [tag for tag in sorted(tags, key=refs.release_order) if refs.is_release(tag)] == ["v1.0.0", "1.0.0.post2", "v1.0.0.post2", "v1.0.0.post10", "v1.0.1"]
    assert min(["v1.0.0", "v1.0.0-rc1"], key=refs.release_order) == "v1.0.0-rc1"
    assert refs.numbers("v1.0.0.post2") == (1, 0, 0)


@given(st.binary(max_size=300))
def test_parsers_take_anything(data: bytes) -> None:
    refs.parse_refs(data)
    refs.parse_remote_refs(data)


@given(st.text(max_size=40), st.lists(st.text(max_size=20), max_size=8))
def test_near_misses_take_anything(version: str, known: list[str]) -> None:
    assert set(refs.near_misses(version, known)) <= set(known)
