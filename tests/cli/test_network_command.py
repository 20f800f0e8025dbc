"""``nasbed network`` as a user meets it."""

from __future__ import annotations

import json
from subprocess import CompletedProcess

import pytest

pytest.importorskip("torch", reason="needs torch")

from support.commands import run_command

INCEPTION = "conv1x1:0/conv3x3:0/conv3x3:0/conv3x3:3/maxpool3x3:0/output:1,2,4,5"


def run(*arguments: str) -> CompletedProcess[str]:
    return run_command("network", *arguments)


def test_network_prints_the_published_total() -> None:
    outcome = run("nb101", INCEPTION)
    assert outcome.returncode == 0, outcome.stderr
    assert (
        "parameters     2 694 282" in outcome.stdout and "128×32×32" in outcome.stdout and INCEPTION in outcome.stdout
    )


def test_network_prints_json_of_a_sampled_architecture() -> None:
    outcome = run(
        "darts", "--sample-seed", "3", "--classes", "4", "--image-channels", "1", "--image", "16x12", "--json"
    )
    summary = json.loads(outcome.stdout)
    assert summary["parts"][-1]["shape"] == [4] and summary["parts"][0]["shape"] == [96, 16, 12]
    assert sum(part["parameters"] for part in summary["parts"]) == summary["parameters"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("fcnet", "--sample-seed", "0"), "the space 'fcnet' has no network"),
        (("nb101",), "give one architecture: either its text or --sample-seed"),
        (("nb101", INCEPTION, "--image", "2"), "needs images of 4 pixels"),
        (("nb201", "junk"), "an nb201 cell reads"),
    ],
)
def test_network_user_errors_are_one_line_and_exit_2(arguments: tuple[str, ...], message: str) -> None:
    outcome = run(*arguments)
    assert outcome.returncode == 2 and message in outcome.stderr
    assert len(outcome.stderr.strip().splitlines()) == 1
