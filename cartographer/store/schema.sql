-- SPDX-License-Identifier: BSD-3-Clause
-- The atlas of one pinned PyTorch as one SQLite file. PRAGMA user_version holds the number of this schema.
--
-- Changes, newest first (raise SCHEMA_VERSION in database.py with each):
--   3  whole: what is read only as a whole; symbol_run, signature; keys, backends and kinds as words; fewer indices
--   2  chain_step.direct, landmark, tree
--   1  first version
--
-- Conventions. `path` and `word` hold every repeated text once; columns that name them end in _path or _word, or are
-- called `path`, and hold their id. Lines count from 1; 0 means "not a line". Lists and small maps that are only ever
-- shown whole are JSON text. Operators are numbered in the order of their names, so a range of ids is a range of
-- names. NULL is "none", never "unknown": what could not be told stands in `unresolved`, or in a chain whose status
-- says so.

-- What was read and by what: one row a fact.
CREATE TABLE meta (
    key   TEXT PRIMARY KEY,  -- kind, version, tag, commit, described, web, tool_version, inputs (digest of all it was made from), seconds (JSON), strata_level, strata_reason, strata_vendored (JSON: folders of third-party code), oplist (JSON: version, tag, commit, web; NULL: no list)
    value TEXT               -- as text; NULL for a commit that is not known
) WITHOUT ROWID;

-- The counts that the atlas states, each with the statement that gives it again.
CREATE TABLE count (
    name    TEXT PRIMARY KEY,  -- operators, operators_yaml, files, ...
    value   INTEGER NOT NULL,  -- the count
    says    TEXT NOT NULL,     -- what is counted, in words
    receipt TEXT NOT NULL      -- the SQL statement that counts it in this file
) WITHOUT ROWID;

-- Paths, relative to PyTorch's root. Also targets of includes that lie outside the tree, as written.
CREATE TABLE path (
    id   INTEGER PRIMARY KEY,
    path TEXT NOT NULL UNIQUE
);

-- Other repeated texts: symbols, reasons, rules, conditions.
CREATE TABLE word (
    id   INTEGER PRIMARY KEY,
    text TEXT NOT NULL
);

-- One operator overload a row, in the order of names.
CREATE TABLE operator (
    id                  INTEGER PRIMARY KEY,
    name                TEXT NOT NULL UNIQUE,  -- aten::add.Tensor
    namespace           TEXT NOT NULL,         -- aten
    base                TEXT NOT NULL,         -- add (in-place underscore kept)
    overload            TEXT NOT NULL,         -- Tensor
    schema              TEXT NOT NULL,         -- as torch prints it
    origin              TEXT NOT NULL,         -- yaml | generated | library | python
    path                INTEGER NOT NULL REFERENCES path,  -- where it is declared
    line                INTEGER NOT NULL,
    end_line            INTEGER,
    build               TEXT NOT NULL,         -- JSON list: conditions under which it exists
    variants            TEXT NOT NULL,         -- JSON list: function, method
    tags                TEXT NOT NULL,         -- JSON list
    structured          INTEGER NOT NULL,      -- 1: its yaml row says `structured: True`
    structured_delegate TEXT,                  -- the out= overload that serves it
    python_module       TEXT,                  -- nn, linalg, ...
    generated_from      TEXT,                  -- of torchgen's own: the operator it is derived from
    cpp_op              TEXT,                  -- at::_ops::add_Tensor
    cpp_function        TEXT,                  -- at::add
    cpp_method          TEXT,                  -- at::Tensor::add
    dispatch            INTEGER NOT NULL REFERENCES dispatch_table,  -- what serves each runtime key
    layers_word         INTEGER NOT NULL REFERENCES word,  -- JSON list of `layer` ids, from the outside in
    callers             TEXT NOT NULL,         -- JSON list of `word` ids: operators whose code calls it
    callees             TEXT NOT NULL,         -- JSON list of `word` ids: operators that its code calls
    age                 TEXT NOT NULL,         -- JSON object: thing -> ISO date or null
    extra               TEXT NOT NULL          -- JSON object: yaml keys kept as written
);

-- Computed dispatch tables; operators share them (3,600 operators have a few hundred different ones).
CREATE TABLE dispatch_table (
    id        INTEGER PRIMARY KEY,
    keys_word INTEGER NOT NULL REFERENCES word,  -- JSON list of runtime keys
    outcomes  TEXT NOT NULL  -- JSON list of `word` ids, one for each key: the dispatcher's words ("kernel", "math kernel", "missing", ...)
);

-- Functionality layers that a call passes.
CREATE TABLE layer (
    id           INTEGER PRIMARY KEY,
    key          TEXT NOT NULL,     -- AutogradCPU
    acts         INTEGER NOT NULL,  -- 1: something is done here for this operator
    outcome_word INTEGER NOT NULL REFERENCES word,
    path         INTEGER REFERENCES path,  -- what acts, where known
    line         INTEGER,
    end_line     INTEGER
);

-- Python names of an operator.
CREATE TABLE binding (
    operator       INTEGER NOT NULL REFERENCES operator,
    position       INTEGER NOT NULL,       -- order within the operator
    python         TEXT NOT NULL,          -- torch.Tensor.add
    function       TEXT NOT NULL,          -- THPVariable_add
    file           TEXT NOT NULL,          -- python_variable_methods.cpp, or the path of a hand-written one
    deprecated     INTEGER NOT NULL,       -- 1: comes through deprecated.yaml
    path           INTEGER REFERENCES path,  -- place of a hand-written one
    line           INTEGER,
    end_line       INTEGER,
    generator_path INTEGER REFERENCES path,  -- the generator's function or template that writes it
    generator_line INTEGER,
    generator_end_line INTEGER,
    PRIMARY KEY (operator, position)
) WITHOUT ROWID;

-- Kernel functions by symbol.
CREATE TABLE kernel (
    id     INTEGER PRIMARY KEY,
    symbol TEXT NOT NULL,  -- at::native::add_out
    plain  TEXT NOT NULL   -- its last name, without template arguments: add_out
);

-- One kernel registered for one dispatch key or alias key.
CREATE TABLE registration (
    operator    INTEGER NOT NULL REFERENCES operator,
    position    INTEGER NOT NULL,           -- order within the operator
    key_word    INTEGER NOT NULL REFERENCES word,  -- CPU, Meta, CompositeImplicitAutograd, ...
    kernel      INTEGER REFERENCES kernel,  -- NULL: fallthrough, or a function without a name
    origin      TEXT NOT NULL,              -- yaml | structured | generated | library | python
    fallthrough INTEGER NOT NULL,
    boxed       INTEGER NOT NULL,
    active      INTEGER NOT NULL,           -- 0: a later registration for the same key overrides it
    build       TEXT NOT NULL,              -- JSON list of conditions
    path        INTEGER REFERENCES path,    -- the very line, of a hand-written one
    line        INTEGER,
    end_line    INTEGER,
    rule_word   INTEGER NOT NULL REFERENCES word,  -- the PyTorch source it derives from, when not written by hand
    PRIMARY KEY (operator, position)
) WITHOUT ROWID;

-- Steps on the way down to the device; chains share them.
CREATE TABLE step (
    id          INTEGER PRIMARY KEY,
    role        TEXT NOT NULL,     -- entry | stub | registration | kernel | device | library | calls
    symbol      TEXT NOT NULL,
    plain       TEXT NOT NULL,     -- its last name, without template arguments
    path        INTEGER NOT NULL REFERENCES path,
    line        INTEGER NOT NULL,
    note_word   INTEGER NOT NULL REFERENCES word,  -- what decides the branch, which capability, which generator
    branch_word INTEGER NOT NULL REFERENCES word   -- condition under which it is taken; the empty text = always
);

-- Chains from the function that the dispatcher calls to the code that runs; operators and backends share them.
CREATE TABLE chain (
    id          INTEGER PRIMARY KEY,
    status      TEXT NOT NULL,  -- resolved | none | unresolved
    reason_word INTEGER REFERENCES word
);

-- The steps of a chain, in order.
CREATE TABLE chain_step (
    chain    INTEGER NOT NULL REFERENCES chain,
    position INTEGER NOT NULL,
    step     INTEGER NOT NULL REFERENCES step,
    direct   INTEGER NOT NULL,  -- 1: before the chain enters another operator that is called on the way
    PRIMARY KEY (chain, position)
) WITHOUT ROWID;

-- Which chain serves an operator on a backend. Read against chain_step it is the way back: step -> operators.
CREATE TABLE operator_chain (
    operator     INTEGER NOT NULL REFERENCES operator,
    position     INTEGER NOT NULL,
    backend_word INTEGER NOT NULL REFERENCES word,  -- CUDA, CPU, MPS, Meta, ...
    chain        INTEGER NOT NULL REFERENCES chain,
    PRIMARY KEY (operator, position)
) WITHOUT ROWID;

-- The way back of an operator.
CREATE TABLE autograd (
    operator INTEGER PRIMARY KEY REFERENCES operator,
    kind     TEXT NOT NULL,   -- formula, not implemented, not differentiable, by hand, ...
    path     INTEGER REFERENCES path,  -- its row in derivatives.yaml
    line     INTEGER,
    end_line INTEGER,
    saved    TEXT NOT NULL,   -- JSON list of saved variables
    output_differentiability TEXT NOT NULL  -- JSON list
);

-- Autograd Nodes of an operator.
CREATE TABLE node (
    operator INTEGER NOT NULL REFERENCES operator,
    position INTEGER NOT NULL,
    name     TEXT NOT NULL,   -- AddBackward0
    PRIMARY KEY (operator, position)
) WITHOUT ROWID;

-- Functions that derivative formulas call.
CREATE TABLE helper (
    operator INTEGER NOT NULL REFERENCES operator,
    position INTEGER NOT NULL,
    symbol   TEXT NOT NULL,
    plain    TEXT NOT NULL,   -- its last name
    path     INTEGER NOT NULL REFERENCES path,
    line     INTEGER NOT NULL,
    end_line INTEGER,
    PRIMARY KEY (operator, position)
) WITHOUT ROWID;

-- Derivative formulas, one for each group of arguments.
CREATE TABLE formula (
    operator  INTEGER NOT NULL REFERENCES operator,
    position  INTEGER NOT NULL,
    names     TEXT NOT NULL,   -- JSON list of arguments
    text_word INTEGER NOT NULL REFERENCES word,
    path      INTEGER NOT NULL REFERENCES path,
    line      INTEGER NOT NULL,
    end_line  INTEGER,
    key       TEXT NOT NULL,   -- Default, AutogradNestedTensor, ...
    forward   INTEGER NOT NULL,  -- 1: forward-mode
    PRIMARY KEY (operator, position)
) WITHOUT ROWID;

-- Scanned files.
CREATE TABLE file (
    path        INTEGER PRIMARY KEY REFERENCES path,
    position    INTEGER NOT NULL,  -- order in which the files were read
    blob        BLOB NOT NULL,     -- git's blob id: 20 bytes, or text where it is not 40 hex digits
    size        INTEGER NOT NULL,  -- bytes
    language    TEXT NOT NULL,
    lines       INTEGER NOT NULL,
    error_nodes INTEGER NOT NULL,  -- ERROR and MISSING nodes of the parse
    error_bytes INTEGER NOT NULL,  -- bytes inside them
    notes       TEXT NOT NULL      -- JSON list: not UTF-8, truncated, too deep, ...
);

-- What a file includes or imports.
CREATE TABLE include (
    file     INTEGER NOT NULL REFERENCES file,
    position INTEGER NOT NULL,
    target   INTEGER NOT NULL REFERENCES path,  -- the path in the tree, or the target as written
    line     INTEGER NOT NULL,
    PRIMARY KEY (file, position)
) WITHOUT ROWID;

-- Definitions worth finding. Those of one file follow one another: `symbol_run` says where.
CREATE TABLE symbol (
    id          INTEGER PRIMARY KEY,
    name        TEXT NOT NULL,
    scope_word  INTEGER NOT NULL REFERENCES word,  -- qualified name without `name` at its end, or, if `name` does not end it, all of it
    suffix      INTEGER NOT NULL,  -- 1: qualified name = scope + name; 0: qualified name = scope
    kind_word   INTEGER NOT NULL REFERENCES word,  -- function, method, class, kernel, macro, stub, ...
    path        INTEGER NOT NULL REFERENCES path,
    line        INTEGER NOT NULL,
    end_line    INTEGER NOT NULL,
    guards_word INTEGER REFERENCES word   -- JSON list of #if conditions; NULL: none
);

-- Symbols of one file, from one id to another: one row for most files.
CREATE TABLE symbol_run (
    path  INTEGER NOT NULL REFERENCES path,
    first INTEGER NOT NULL REFERENCES symbol,
    last  INTEGER NOT NULL REFERENCES symbol,
    PRIMARY KEY (path, first)
) WITHOUT ROWID;

-- Signatures of symbols, as written. A row holds those of `BLOCK` symbols (symbol_rows.py), by their ids.
CREATE TABLE signature (
    block INTEGER PRIMARY KEY,  -- id of the symbol / BLOCK
    texts BLOB NOT NULL         -- zlib of a JSON list
);

-- Dispatch stubs.
CREATE TABLE stub (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    plain    TEXT NOT NULL,   -- its last name
    declared TEXT NOT NULL,   -- JSON list of [path id, line]
    defined  TEXT NOT NULL    -- JSON list of [path id, line]
);

-- What is registered to a stub.
CREATE TABLE stub_registration (
    stub     INTEGER NOT NULL REFERENCES stub,
    position INTEGER NOT NULL,
    device   TEXT NOT NULL,   -- CUDA, MPS, AVX2, ...
    kernel   TEXT NOT NULL,   -- function as written
    path     INTEGER NOT NULL REFERENCES path,
    line     INTEGER NOT NULL,
    PRIMARY KEY (stub, position)
) WITHOUT ROWID;

-- Files that PyTorch's build writes.
CREATE TABLE generated_file (
    id             INTEGER PRIMARY KEY,
    name           TEXT NOT NULL,
    generator_path INTEGER NOT NULL REFERENCES path,
    generator_line INTEGER NOT NULL,
    template       TEXT,              -- path of the template
    shards         INTEGER NOT NULL,
    holds          TEXT NOT NULL      -- one sentence
);

-- Things that could not be told, with the reason.
CREATE TABLE unresolved (
    id          INTEGER PRIMARY KEY,
    stage       TEXT NOT NULL,
    subject     TEXT NOT NULL,
    reason_word INTEGER NOT NULL REFERENCES word,
    path        INTEGER REFERENCES path,  -- NULL: no place
    line        INTEGER NOT NULL
);

-- Places beside the way of a call that somebody who changes an operator or a file needs.
CREATE TABLE landmark (
    id      INTEGER PRIMARY KEY,
    subject TEXT NOT NULL,  -- aten::exp (all overloads), the pattern of an owner's rule, '' for the whole repository
    kind    TEXT NOT NULL,  -- docs | opinfo | tests | lowering | owner | setup | ...: all in model/atlas.py
    path    INTEGER NOT NULL REFERENCES path,
    line    INTEGER NOT NULL,
    text    TEXT NOT NULL   -- the owners, the command, the function
);

-- What is only ever read as a whole, compressed by zlib: one row a thing.
CREATE TABLE whole (
    name TEXT PRIMARY KEY,  -- paths: of all files of the tree, scanned or not, sorted, joined by line feeds; oplist: the operator list of the release as the yaml files declare it, what `diff` compares: JSON list of [name, object with the fields of model/oplist.py, OperatorRow, that are not empty], NULL: no list; lineage: JSON object: releases, first, unread, events by operator; since: JSON: the comparison with the release before, NULL: none; bodies: msgpack: path, line of a step, statements of the function there, NULL: none
    data BLOB
) WITHOUT ROWID;

-- Eras of the history, oldest first.
CREATE TABLE era (
    id       INTEGER PRIMARY KEY,
    name     TEXT NOT NULL,
    first    TEXT NOT NULL,   -- ISO dates
    last     TEXT NOT NULL,
    evidence TEXT NOT NULL    -- JSON list of [what, commit, date]
);

-- Commits that surviving lines came in by.
CREATE TABLE dated_commit (
    id        INTEGER PRIMARY KEY,  -- index used by the runs
    commit_id BLOB NOT NULL,     -- 20 bytes, or text where it is not 40 hex digits
    date      TEXT NOT NULL,     -- ISO date of the committer
    boundary  INTEGER NOT NULL,  -- 1: a shallow clone ends here; its lines are from then or before
    first_release INTEGER        -- the first `release` that holds it; -1: none; NULL: not asked
);

-- Releases by tag, in the order of versions.
CREATE TABLE release (
    id  INTEGER PRIMARY KEY,
    tag TEXT NOT NULL
);

-- Commits that brought a foreign tree or history: their lines came in by them, they were not written in them.
CREATE TABLE import (
    id        INTEGER PRIMARY KEY,
    commit_id TEXT NOT NULL,
    date      TEXT NOT NULL,
    kind      TEXT NOT NULL,     -- history: merged, its lines keep their dates; tree: copied, they bear the date of this commit
    folder    TEXT NOT NULL,     -- where it put the files
    files     INTEGER NOT NULL,
    lines     INTEGER NOT NULL,  -- that it brought
    surviving INTEGER NOT NULL,  -- that still bear its date
    subject   TEXT NOT NULL,
    reason    TEXT NOT NULL,     -- how we know
    vendored  INTEGER NOT NULL   -- 1: third-party code with a licence or a folder of its own
);

-- Dates of files and of their lines.
CREATE TABLE file_dates (
    path         INTEGER PRIMARY KEY REFERENCES path,
    born         TEXT,
    changed      TEXT,
    former_names TEXT NOT NULL,  -- JSON list
    runs         BLOB NOT NULL   -- zlib of JSON [lines, commit, lines, commit, ...]; commit -1 = unknown
);

-- Full-text index over everything that has a name: operators, Python names, bindings, Nodes, kernels, stubs, files,
-- generated files, symbols. It keeps no text of its own. rowid = kind << 32 | id, where kind is the place in KINDS of
-- search_words.py and id belongs to the table of that kind (for Python names, bindings and Nodes: to `word`). The
-- words are lower case: each identifier whole, and its parts at underscores, capitals and digits.
CREATE VIRTUAL TABLE search USING fts5 (words, content = '', detail = none, columnsize = 0, tokenize = "unicode61 tokenchars '_'");

-- Indices. They are made when all rows are in: sorted once, and packed.
CREATE INDEX operator_base ON operator (base);
CREATE INDEX operator_path ON operator (path);
CREATE INDEX operator_cpp_op ON operator (cpp_op);
CREATE INDEX operator_cpp_function ON operator (cpp_function);
CREATE INDEX binding_python ON binding (python);
CREATE INDEX binding_function ON binding (function);
CREATE INDEX binding_path ON binding (path) WHERE path IS NOT NULL;
CREATE INDEX kernel_plain ON kernel (plain);
CREATE INDEX registration_kernel ON registration (kernel);
CREATE INDEX registration_path ON registration (path) WHERE path IS NOT NULL;
CREATE INDEX step_plain ON step (plain);
CREATE INDEX step_path ON step (path, line);
CREATE INDEX chain_step_step ON chain_step (step);
CREATE INDEX operator_chain_chain ON operator_chain (chain);
CREATE INDEX node_name ON node (name);
CREATE INDEX helper_plain ON helper (plain);
CREATE INDEX helper_path ON helper (path);
CREATE INDEX formula_path ON formula (path);
CREATE INDEX symbol_name ON symbol (name);
CREATE INDEX stub_plain ON stub (plain);
CREATE INDEX unresolved_path ON unresolved (path) WHERE path IS NOT NULL;
CREATE INDEX landmark_subject ON landmark (subject);
