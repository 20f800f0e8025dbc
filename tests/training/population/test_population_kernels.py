"""The Triton kernels against torch's own operations: by Triton's interpreter on the CPU, compiled where there is a GPU.

They run in a process of their own, since Triton decides when it is imported whether it interprets.
"""

from __future__ import annotations

import os
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from runpy import run_path
from subprocess import PIPE

import pytest
import torch

from support.forks import Fork

pytestmark = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed: it comes for Linux only")


def run(*arguments: str, interpreted: bool) -> None:
    script = Path(__file__).with_name("kernels_against_torch.py")
    environment = os.environ | {"PYTHONPATH": str(script.parent)} | ({"TRITON_INTERPRET": "1"} if interpreted else {})
    script_run = partial(run_path, str(script), run_name="__main__")
    with Fork(script_run, (str(script), *arguments), env=environment, stdout=PIPE, stderr=PIPE) as process:
        printed, errors = process.communicate()
    assert process.returncode == 0, printed + errors


def test_interpreted_kernels_compute_what_torch_computes(thorough: bool) -> None:
    run("cpu", *(("everything", "dense") if thorough else ("quick",)), "pictures", interpreted=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="compiled kernels need a CUDA device")
def test_compiled_kernels_compute_what_torch_computes() -> None:
    run("cuda", interpreted=False)
