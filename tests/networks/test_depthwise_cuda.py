"""Triton kernels of depthwise convolutions: interpreted on the CPU, compiled where there is a GPU, and translated for
one where there is none, since the interpreter allows more than the compiler."""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from subprocess import PIPE

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from support.forks import Fork  # noqa: E402

pytestmark = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed: it comes for Linux only")
SCALARS = ("places", "per_chunk", "channels", "H", "W", "HO", "WO", "PH", "PW")
CONSTANTS = {"KH": 5, "KW": 5, "WIDE": 8, "STRIDE": 2, "DILATION": 2, "BM": 16, "BC": 32}


def run(device: str, *, interpreted: bool) -> None:
    script = Path(__file__).with_name("depthwise_against_torch.py")
    environment = os.environ | ({"TRITON_INTERPRET": "1"} if interpreted else {})
    script_run = partial(run_path, str(script), run_name="__main__")
    with Fork(script_run, (str(script), device), env=environment, stdout=PIPE, stderr=PIPE) as process:
        printed, errors = process.communicate()
    assert process.returncode == 0, printed + errors


def test_interpreted_depthwise_kernels_compute_what_torch_computes() -> None:
    run("cpu", interpreted=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="compiled kernels need a CUDA device")
def test_compiled_depthwise_kernels_compute_what_torch_computes() -> None:
    run("cuda", interpreted=False)


@pytest.mark.skipif(torch.cuda.is_available(), reason="Triton compiles where there is a GPU")
def test_triton_that_cannot_compile_is_not_used_and_a_warning_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    from nasbed.networks.depthwise.cuda import compiles_kernels

    compiles_kernels.cache_clear()
    assert [compiles_kernels(torch.device("cpu")) for _ in range(2)] == [False, False]
    (record,) = caplog.records
    assert "Triton cannot compile for cpu" in record.message


@pytest.mark.parametrize("name", ["forward", "backward_maps", "backward_kernels"])
def test_depthwise_kernel_compiles_for_hopper(name: str) -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    from nasbed.networks.depthwise import triton_kernels

    kernel = getattr(triton_kernels, name)
    kinds = dict.fromkeys(SCALARS, "i32") | dict.fromkeys(CONSTANTS, "constexpr")
    signature = {argument: kinds.get(argument, "*fp32") for argument in kernel.arg_names}
    constants = {
        (place,): CONSTANTS[argument] for place, argument in enumerate(kernel.arg_names) if argument in CONSTANTS
    }
    source = ASTSource(fn=kernel, signature=signature, constexprs=constants)
    assert triton.compile(source, target=GPUTarget("cuda", 90, 32)).asm["cubin"]
