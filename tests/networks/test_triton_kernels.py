"""Triton kernels of convolutions: interpreted on the CPU, compiled where there is a GPU, and translated for one where
there is none, since the interpreter allows more than the compiler."""

from __future__ import annotations

import os
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from subprocess import PIPE

import pytest

torch = pytest.importorskip("torch", reason="needs torch")

from support.forks import Fork  # noqa: E402

pytestmark = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed: it comes for Linux only")
SCRIPTS = ["depthwise", "pointwise", "bundles"]
NUMBERS = (
    *("places", "per_chunk", "channels", "H", "W", "HO", "WO", "PH", "PW"),
    *("groups", "weights_of_group", "by_read", "by_written"),
)
DEPTHWISE = {"KH": 5, "KW": 5, "WIDE": 8, "STRIDE": 2, "DILATION": 2, "BM": 16, "BC": 32}
NARROW = {"READ": 4, "WRITTEN": 20, "BM": 32, "BR": 4, "BW": 32, "PRECISION": "tf32"}
BROAD = {"READ": 40, "WRITTEN": 16, "BM": 64, "BR": 64, "BW": 16, "PRECISION": "tf32"}


def run(name: str, device: str, *, interpreted: bool) -> None:
    script = Path(__file__).with_name(f"{name}_against_torch.py")
    environment = os.environ | ({"TRITON_INTERPRET": "1"} if interpreted else {})
    script_run = partial(run_path, str(script), run_name="__main__")
    with Fork(script_run, (str(script), device), env=environment, stdout=PIPE, stderr=PIPE) as process:
        printed, errors = process.communicate()
    assert process.returncode == 0, printed + errors


@pytest.mark.parametrize("name", SCRIPTS)
def test_interpreted_kernels_compute_what_torch_computes(name: str) -> None:
    run(name, "cpu", interpreted=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="compiled kernels need a CUDA device")
@pytest.mark.parametrize("name", SCRIPTS)
def test_compiled_kernels_compute_what_torch_computes(name: str) -> None:
    run(name, "cuda", interpreted=False)


@pytest.mark.skipif(torch.cuda.is_available(), reason="Triton compiles where there is a GPU")
def test_triton_that_cannot_compile_is_not_used_and_a_warning_says_so_once(caplog: pytest.LogCaptureFixture) -> None:
    from nasbed.networks.depthwise.cuda import compiles_kernels

    compiles_kernels.cache_clear()
    assert [compiles_kernels(torch.device("cpu")) for _ in range(2)] == [False, False]
    (record,) = caplog.records
    assert "Triton cannot compile for cpu" in record.message


@pytest.mark.parametrize(
    ("package", "name", "constants"),
    [
        ("depthwise", "forward", DEPTHWISE),
        ("depthwise", "backward_maps", DEPTHWISE),
        ("depthwise", "backward_kernels", DEPTHWISE),
        ("pointwise", "products", NARROW),
        ("pointwise", "products", BROAD),
        ("pointwise", "backward_weights", NARROW),
        ("pointwise", "backward_weights", BROAD),
    ],
)
def test_kernel_compiles_for_hopper(package: str, name: str, constants: dict[str, object]) -> None:
    import triton
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = getattr(import_module(f"nasbed.networks.{package}.triton_kernels"), name)
    own = {argument: constants[argument] for argument in kernel.arg_names if argument in constants}
    kinds = dict.fromkeys(NUMBERS, "i32") | dict.fromkeys(own, "constexpr")
    signature = {argument: kinds.get(argument, "*fp32") for argument in kernel.arg_names}
    values = {(place,): own[argument] for place, argument in enumerate(kernel.arg_names) if argument in own}
    source = ASTSource(fn=kernel, signature=signature, constexprs=values)
    compiled = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    assert compiled.asm["cubin"]
    has_units = "mma" in compiled.asm["ptx"]
    assert has_units == (constants is BROAD), "Triton multiplies matrices too small for matrix units, and is wrong"
