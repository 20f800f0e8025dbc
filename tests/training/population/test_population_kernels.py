"""The Triton kernels against torch's own operations: by Triton's interpreter on the CPU, compiled where there is a GPU.

They run in a process of their own, since Triton decides when it is imported whether it interprets.
"""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

pytestmark = pytest.mark.skipif(find_spec("triton") is None, reason="triton is not installed: it comes for Linux only")


def run(*arguments: str, interpreted: bool) -> None:
    environment = os.environ | ({"TRITON_INTERPRET": "1"} if interpreted else {})
    script = Path(__file__).with_name("kernels_against_torch.py")
    completed = subprocess.run(
        [sys.executable, str(script), *arguments], env=environment, capture_output=True, text=True
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr


def test_interpreted_kernels_compute_what_torch_computes(thorough: bool) -> None:
    run("cpu", *(("everything", "dense") if thorough else ("quick",)), "pictures", interpreted=True)


@pytest.mark.skipif(not torch.cuda.is_available(), reason="compiled kernels need a CUDA device")
def test_compiled_kernels_compute_what_torch_computes() -> None:
    run("cuda", interpreted=False)
