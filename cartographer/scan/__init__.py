# SPDX-License-Identifier: BSD-3-Clause
"""Turns the bytes of one file into facts: definitions, calls, macros, registrations. Pure: no disk, no git.

    one            by language: C family, Metal, Python
    cpp            preprocess → inside → calls, put together as FileFacts
    preprocess     comments, strings, directives out; offsets stay (conditions: which branch is kept)
    inside         the outline of a file: definitions reads its surface by brackets and heads,
                   inside adds classes in functions, stringified device code, and a second reading by grammar
    calls          bodies: each bracket once, names read backwards from it
    metal, objc    what these two languages add
    python         by tree-sitter, from a text without what nothing is looked for in (abridge)
    parsing        the only home of tree_sitter
    pool, cache    many files over all cores, kept by blob id

The C family is read by its brackets, not by a grammar: half of PyTorch's files are no C++ until macros are expanded,
and a grammar loses what follows a macro that it does not know. The grammar is asked where the outline is at a loss;
`error_nodes` and `error_bytes` of a file say how often and how much that was.
"""
