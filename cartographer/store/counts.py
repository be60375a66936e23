# SPDX-License-Identifier: BSD-3-Clause
"""The counts that an atlas states: a name, what is counted, and the SQL statement that counts it (its receipt)."""

from __future__ import annotations

COUNTS: tuple[tuple[str, str, str], ...] = (
    ("operators", "operator overloads of all namespaces", "SELECT count(*) FROM operator"),
    ("operators_yaml", "rows of native_functions.yaml", "SELECT count(*) FROM operator WHERE origin = 'yaml'"),
    ("operators_generated", "operators that torchgen adds", "SELECT count(*) FROM operator WHERE origin = 'generated'"),
    ("operators_library", "operators registered by TORCH_LIBRARY in C++", "SELECT count(*) FROM operator WHERE origin = 'library'"),
    ("operators_python", "operators registered by torch.library in Python", "SELECT count(*) FROM operator WHERE origin = 'python'"),
    ("operators_always", "operators that exist in every build", "SELECT count(*) FROM operator WHERE build = '[]'"),
    ("names", "operators by name, overloads taken together", "SELECT count(*) FROM (SELECT DISTINCT namespace, base FROM operator)"),
    ("namespaces", "namespaces of operators", "SELECT count(DISTINCT namespace) FROM operator"),
    ("structured", "operators written as structured kernels", "SELECT count(*) FROM operator WHERE structured"),
    ("structured_delegates", "operators that a structured out= overload serves",
     "SELECT count(*) FROM operator WHERE structured_delegate IS NOT NULL"),
    ("bindings", "Python names of operators", "SELECT count(DISTINCT python) FROM binding"),
    ("bound", "operators with a Python name", "SELECT count(DISTINCT operator) FROM binding WHERE NOT deprecated"),
    ("registrations", "kernels registered for a dispatch key", "SELECT count(*) FROM registration"),
    ("kernels", "kernel functions named by registrations", "SELECT count(DISTINCT kernel) FROM registration WHERE kernel IS NOT NULL"),
    ("chains", "operators times backends with an answer or a reason", "SELECT count(*) FROM operator_chain"),
    ("chains_resolved", "of these, resolved", "SELECT count(*) FROM operator_chain o JOIN chain c ON c.id = o.chain WHERE c.status = 'resolved'"),
    ("chains_none", "of these, known to have no kernel", "SELECT count(*) FROM operator_chain o JOIN chain c ON c.id = o.chain WHERE c.status = 'none'"),
    ("chains_unresolved", "of these, not told",
     "SELECT count(*) FROM operator_chain o JOIN chain c ON c.id = o.chain WHERE c.status = 'unresolved'"),
    ("with_node", "operators with an autograd Node", "SELECT count(DISTINCT operator) FROM node"),
    ("nodes", "autograd Nodes", "SELECT count(DISTINCT name) FROM node"),
    ("stubs", "dispatch stubs", "SELECT count(*) FROM stub"),
    ("files", "files read", "SELECT count(*) FROM file"),
    ("lines", "lines read", "SELECT coalesce(sum(lines), 0) FROM file"),
    ("symbols", "definitions found", "SELECT count(*) FROM symbol"),
    ("files_with_errors", "files whose parse holds errors (read all the same)", "SELECT count(*) FROM file WHERE error_nodes > 0"),
    ("generated_files", "files that the build writes", "SELECT count(*) FROM generated_file"),
    ("unresolved", "things that could not be told", "SELECT count(*) FROM unresolved"),
    ("commits", "commits that surviving lines came in by", "SELECT count(*) FROM dated_commit"),
)  # fmt: skip
