# SPDX-License-Identifier: BSD-3-Clause
import pytest

from cartographer.link.device import answers, library


@pytest.mark.parametrize(
    ("name", "device", "expected"),
    [
        ("cublasSgemm", "cuda", "cuBLAS"), ("cublasLtMatmul", "cuda", "cuBLASLt"), ("cublasSetStream", "cuda", ""), ("cublasSgemm", "cpu", ""),
        ("cusolverDnSgetrf", "cuda", "cuSOLVER"), ("cusolverDnSgetrf_bufferSize", "cuda", ""), ("cudnnRNNForward", "cuda", "cuDNN"),
        ("cudnnCreateTensorDescriptor", "cuda", ""), ("cub::DeviceSelect::Flagged", "cuda", "CUB"), ("at::cuda::cub::radix_sort_keys", "cuda", ""),
        ("thrust::sort_by_key", "cuda", "Thrust"), ("thrust::device_ptr", "cuda", ""), ("cblas_sgemm", "cpu", "BLAS"), ("cblas_sgemm_batch", "cpu", "MKL"), ("sgetrf_", "cpu", "LAPACK"),
        ("ideep::matmul_forward::compute", "cpu", "oneDNN"), ("ideep::tensor", "cpu", ""), ("ideep::matmul_forward::prepare", "cpu", ""), ("pytorch_qnnp_setup_clamp_nc_u8", "cpu", ""),
        ("pytorch_qnnp_run_operator", "cpu", "QNNPACK"), ("std::sort", "cpu", ""),
    ],
)
def test_a_library_is_told_by_its_names_and_preparation_is_no_work(name, device, expected):
    assert library(name, device) == expected


def test_a_key_answers_for_its_device_and_layout():
    assert answers("cuda", "sparse") == {"cuda", "sparse"}
    assert answers("cpu", "") == {"cpu"}
