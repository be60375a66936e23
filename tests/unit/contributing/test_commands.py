# SPDX-License-Identifier: BSD-3-Clause
"""Commands of small instructions written as PyTorch writes its own, of several ages."""

from cartographer.contributing.commands import commands

CONTRIBUTING = """# Developing

See [from source](https://github.com/pytorch/pytorch#from-source).

### Set `it` up

Clone it:

```bash
git clone git@github.com:<NAME>/pytorch.git
cd pytorch

make setup-env  # or another
source venv/bin/activate  # or `this`
```

Replace it. The change is to replace

```bash
python setup.py install
```

### Tips

  1. Start over:
      ```bash
      git clean -xdf
      git submodule update --init # again
      python setup.py develop
      ```

## Testing

```
pip install -r requirements.txt
```

```bash
$ A=1 pytest test/test_x.py \\
    -k y
```

## Lint

```bash
make setup-lint
```

## Windows

```CMake
project(toy)
```

Build it with:

```bash
cmake ..
python setup.py build
```

## Faster

```sh
USE_CUDA=0 python setup.py develop
```
"""
README = """# Torch

```bash
python setup.py install
```

### From Source

#### Get it

```bash
git clone --recursive https://github.com/pytorch/pytorch
```

#### Install it

```bash
export PREFIX=x
python setup.py develop
python setup.py build --cmake-only
```

```cmd
python setup.py develop
```

### Docker

```bash
python setup.py build
```
"""


def told(contributing, readme=README):
    return [(m.kind, m.subject, m.path[0], m.line, m.text) for m in commands({"CONTRIBUTING.md": contributing, "README.md": readme})]


def test_each_command_stands_in_its_section():
    assert told(CONTRIBUTING) == [
        ("setup", "Set it up", "C", 10, "git clone git@github.com:<NAME>/pytorch.git"), ("setup", "Set it up", "C", 11, "cd pytorch"),
        ("setup", "Set it up", "C", 13, "make setup-env"), ("setup", "Set it up", "C", 14, "source venv/bin/activate"),
        ("build", "Install it", "R", 18, "export PREFIX=x"), ("build", "Install it", "R", 19, "python setup.py develop"),
        ("test", "Testing", "C", 35, "pip install -r requirements.txt"), ("test", "Testing", "C", 39, "A=1 pytest test/test_x.py -k y"),
        ("lint", "Lint", "C", 46, "make setup-lint"), ("build", "Faster", "C", 65, "USE_CUDA=0 python setup.py develop"),
    ]  # fmt: skip


def test_setting_up_as_the_readme_says_where_contributing_only_sends_there():
    sends = "Read https://github.com/pytorch/pytorch#from-source first.\n"
    assert told(sends)[0] == ("setup", "Get it", "R", 12, "git clone --recursive https://github.com/pytorch/pytorch")
    assert told("Nothing.\n") == []
    assert told("") == []


SYSTEMS = """# Developing

See [from source](https://github.com/pytorch/pytorch#from-source).

## Test

**Prerequisites**

```bash
pytest test/a.py
```
"""
OF_SYSTEMS = """# From Source

### Install

Once for all:

```bash
pip install -e .
```

**On Linux**

```bash
python setup.py develop
```

**On macOS:**

```bash
python3 setup.py develop
```

**CPU-only builds**

```bash
USE_CUDA=0 python setup.py develop
```

## Afterwards

```bash
python setup.py install
```
"""


def test_lines_in_bold_tell_ways_apart_and_one_alone_does_not():
    found = {mark.text: mark.subject for mark in commands({"CONTRIBUTING.md": SYSTEMS, "README.md": OF_SYSTEMS})}
    assert found == {
        "pip install -e .": "Install", "python setup.py develop": "Install, on Linux", "python3 setup.py develop": "Install, on macOS",
        "USE_CUDA=0 python setup.py develop": "Install, CPU-only builds", "python setup.py install": "Afterwards", "pytest test/a.py": "Test",
    }  # fmt: skip
