# SPDX-License-Identifier: BSD-3-Clause
"""Git's patch text as changes, whatever pieces it comes in."""

from __future__ import annotations

import pytest

from cartographer.history import raw
from cartographer.history.patch import ADDED, DELETED, MODIFIED, RENAMED, parse, triples, unquote

ONE, TWO, OLD, NEW = "1" * 40, "2" * 40, "a" * 40, "b" * 40
PATCH = f"""{ONE}
diff --git a/x.h b/x.h
index {OLD}..{NEW} 100644
--- a/x.h
+++ b/x.h
@@ -3 +3,2 @@ int f() {{
-@@ -9,9 +9,9 @@ no header
+diff --git a/no b/no
+{TWO}
@@ -8,2 +8,0 @@
-one
-two
\\ No newline at end of file
diff --git a/old name b/new name
similarity index 90%
rename from old name
rename to new name
index {OLD}..{NEW} 100644
@@ -1 +1 @@
-a
+b
{TWO}
diff --git a/moved b/there
similarity index 100%
rename from moved
rename to there
diff --git "a/q\\303\\251\\t" "b/q\\303\\251\\t"
new file mode 100644
index {"0" * 40}..{NEW}
@@ -0,0 +1,7 @@
diff --git a/run.sh b/run.sh
old mode 100644
new mode 100755
diff --git a/gone b/gone
deleted file mode 100644
index {OLD}..{"0" * 40}
@@ -1,4 +0,0 @@
""".encode()


def told(pieces: list[bytes]) -> list[tuple[str, list[tuple[int, bytes, bytes, bytes, list[int]]]]]:
    return [(commit, [(c.kind, c.path, c.old, c.blob, list(triples(c.hunks))) for c in changes]) for commit, changes in parse(pieces)]


EXPECTED = [
    (ONE, [
        (MODIFIED, b"x.h", b"", NEW.encode(), [1, 3, 2, 2, 8, 0]),
        (RENAMED, b"new name", b"old name", NEW.encode(), [1, 1, 1]),
    ]),
    (TWO, [
        (RENAMED, b"there", b"moved", b"", []),
        (ADDED, "qé\t".encode(), b"", NEW.encode(), [0, 1, 7]),
        (MODIFIED, b"run.sh", b"", b"", []),
        (DELETED, b"gone", b"", b"0" * 40, [4, 0, 0]),
    ]),
]  # fmt: skip


@pytest.mark.parametrize("size", [1, 2, 7, 41, 100, 10_000])
def test_pieces_of_any_size(size: int) -> None:
    assert told([PATCH[at : at + size] for at in range(0, len(PATCH), size)]) == EXPECTED


def test_nothing() -> None:
    assert told([]) == []
    assert told([b"end of slice\n"]) == []


@pytest.mark.parametrize(("written", "meant"), [
    (b"plain", b"plain"), (b'"a\\tb\\n\\"\\\\"', b'a\tb\n"\\'), (b'"na\\303\\257ve\\a\\v"', "naïve\a\v".encode()),
])  # fmt: skip
def test_unquote(written: bytes, meant: bytes) -> None:
    assert unquote(written) == meant


def test_raw_rows() -> None:
    lines = [
        ONE, f":100644 100644 {OLD} {NEW} M", "x", f":000000 100644 {'0' * 40} {NEW} A", "new", f":100644 120000 {OLD} {NEW} T", "link",
        f":100644 100644 {OLD} {OLD} R100", "from", "to", TWO, f":160000 000000 {OLD} {'0' * 40} D", "sub", "",
    ]  # fmt: skip
    data = "\0".join(lines).encode()
    found = list(raw.parse(iter([data[:50], data[50:]])))
    assert [(name, [(c.kind, c.path, c.old, before) for c, before in rows]) for name, rows in found] == [
        (ONE, [
            (MODIFIED, b"x", b"", OLD.encode()), (ADDED, b"new", b"", b"0" * 40), (DELETED, b"link", b"", OLD.encode()),
            (ADDED, b"link", b"", b""), (RENAMED, b"to", b"from", OLD.encode()),
        ]),
        (TWO, [(DELETED, b"sub", b"", b"")]),
    ]  # fmt: skip
