# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.checkout.manifest import LARGEST, Exclusion, exclusion, manifest, vendored_folders
from cartographer.model.location import Language
from cartographer.model.source import TreeFile


@pytest.mark.parametrize(("path", "reason"), [
    ("aten/src/ATen/native/cuda/Loss.cu", None), ("torch/_C/__init__.pyi.in", None), ("torch/testing/_internal/common.py", None),
    ("aten/src/ATen/native/mps/operations/A.mm", None), ("aten/src/ATen/native/mps/kernels/A.metal", None), ("tools/autograd/gen.py", None),
    ("setup.py", Exclusion.OUTSIDE), ("test/test_torch.py", Exclusion.OUTSIDE), ("benchmarks/x.py", Exclusion.OUTSIDE),
    ("third_party/fmt/a.h", Exclusion.OUTSIDE), ("caffe2/third_party/a.h", Exclusion.THIRD_PARTY),
    ("aten/src/ATen/test/a.cpp", Exclusion.TEST), ("caffe2/core/blob_test.cc", Exclusion.TEST), ("torch/x_test.py", None),
    ("build/aten/src/ATen/ops/add.h", Exclusion.GENERATED), ("aten/src/ATen/native/native_functions.yaml", Exclusion.LANGUAGE),
])
def test_what_is_scanned(path: str, reason: Exclusion | None) -> None:
    assert exclusion(path, 10) is reason


def test_a_huge_file_is_not_scanned() -> None:
    assert exclusion("torch/a.py", LARGEST + 1) is Exclusion.SIZE


def test_manifest_counts_what_it_leaves_out_and_marks_vendored_code() -> None:
    paths = ["torch/b.py", "torch/_vendor/p/x.py", "aten/q/LICENSE", "aten/q/deep/k.cpp", "aten/k.cu", "setup.py", "LICENSE"]
    found = manifest(TreeFile(path, "0" * 40, 1) for path in paths)
    assert [(f.file.path, f.language, f.vendored) for f in found.files] == [
        ("aten/k.cu", Language.CUDA, False), ("aten/q/deep/k.cpp", Language.CPP, True),
        ("torch/_vendor/p/x.py", Language.PYTHON, True), ("torch/b.py", Language.PYTHON, False),
    ]
    assert found.excluded == {Exclusion.LANGUAGE: 1, Exclusion.OUTSIDE: 2}
    assert vendored_folders(["torch/LICENSE", "LICENSE"]) == frozenset()
