"""Campaign files: read, written back, and refused in one line."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from nasbed.core.errors import BadFile, InvalidOption, NasbedError
from nasbed.experiments.campaign import Campaign, FunctionTrainer, Grid, Repeats, trainer_of
from support.campaign_functions import ADAPTIVE
from support.documentation import page_text
from support.forks import fork_script

WHOLE = """
[campaign]
name = "darts-digits"
space = "darts"
seed = 3
trials = 100
round = 16

[trainer]
kind = "function"
function = "support.campaign_functions:quality"
fidelities = [4, 12]
timeout_s = 600

[[trainer.metrics]]
name = "accuracy"
split = "validation"
unit = "%"
bounds = [0, 100]

[[trainer.metrics]]
name = "latency"
direction = "minimize"
bounds = [0, inf]

[shares]
rs = 0.5
re = 0.3
poor = 0.2

[settings.re]
population_size = 30

[repeats]
architectures = 10
seeds = 5
from = "re"

[grid]
architectures = ["one", "two"]
seeds = [0, 1]
fidelities = "all"
"""


def changed(old: str, new: str) -> dict[str, object]:
    assert old in WHOLE
    return tomllib.loads(WHOLE.replace(old, new))


def test_campaign_file_is_read_as_written() -> None:
    campaign = Campaign.parse(tomllib.loads(WHOLE))
    assert (campaign.name, campaign.space, campaign.seed, campaign.trials, campaign.round) == (
        ("darts-digits", "darts", 3, 100, 16)
    )
    assert dict(campaign.shares) == {"rs": 0.5, "re": 0.3, "poor": 0.2}
    assert campaign.repeats == Repeats(10, 5, "re")
    assert campaign.grid == Grid(("one", "two"), (0, 1))
    trainer = trainer_of(campaign)
    assert isinstance(trainer, FunctionTrainer)
    assert [metric.key for metric in trainer.metrics] == ["validation_accuracy", "latency"]
    assert [repr(metric.bounds) for metric in trainer.metrics] == ["(0.0, 100.0)", "(0.0, inf)"]
    assert (trainer.objective.key, trainer.fidelities, trainer.timeout_s) == ("validation_accuracy", (4, 12), 600)


@pytest.mark.parametrize("campaign", [Campaign.parse(tomllib.loads(WHOLE)), ADAPTIVE], ids=["whole", "adaptive"])
def test_campaign_survives_being_written_and_read(campaign: Campaign) -> None:
    assert Campaign.parse(tomllib.loads(campaign.toml())) == campaign


def test_campaign_text_survives_being_written() -> None:
    odd = 'quote " backslash \\ newline \n tab \t é'
    campaign = Campaign("odd", trials=1, shares={"rs": 1}, trainer={"kind": odd, "on": True, "x": {"a b": [1.5, 2]}})
    assert Campaign.parse(tomllib.loads(campaign.toml())) == campaign


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("rs = 0.5", "rs = 0.4", "shares add up to 1, got 0.9"),
        ("rs = 0.5", "rs = -0.5", "a share lies above 0"),
        ("rs = 0.5", "fill = 0.5", "'fill' has another meaning"),
        ("seed = 3", "sed = 3", "no .campaign. key 'sed'; did you mean seed"),
        ('name = "darts-digits"', 'name = "Darts Digits"', "a campaign's name is lower-case words"),
        ('name = "darts-digits"', "", "has a name, got none"),
        ("trials = 100", 'trials = "many"', "trials of a campaign is a whole number of at least 0, got 'many'"),
        ("round = 16", "round = 0", "round of a campaign is a whole number of at least 1, got 0"),
        ("[settings.re]", "[settings.de]", "for a method that has a share or searches; these have: rs, re, poor"),
        (
            'from = "re"',
            'from = "de"',
            r"\[repeats\] from names a share or a method that searches, got 'de'; known: poor, re, rs",
        ),
        ("seeds = 5", "seeds = 1", "seeds of a campaign is a whole number of at least 2"),
        ("architectures = 10\n", "", "has architectures and seeds, got no architectures"),
        ("seeds = [0, 1]", "seeds = [0, 0]", r"\[grid\] seeds are one or more different numbers"),
        ("trials = 100", "trials = 0", "shares divide the trials, got 0 trials"),
        ("[trainer]", "[tutor]", "no table 'tutor'; known: campaign, grid"),
    ],
)
def test_campaign_refuses_what_it_cannot_be(old: str, new: str, message: str) -> None:
    with pytest.raises(InvalidOption, match=message):
        Campaign.parse(changed(old, new))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('kind = "function"', 'kind = "guess"', "kind is training, population or function, got 'guess'"),
        (
            '"support.campaign_functions:quality"',
            '"support.campaign_functions:none"',
            "support.campaign_functions has no attribute none",
        ),
        (
            '"support.campaign_functions:quality"',
            '"no_such_module:f"',
            "the module no_such_module could not be imported",
        ),
        ('"support.campaign_functions:quality"', '"gone.py:f"', "gone.py is not a file"),
        ('function = "support.campaign_functions:quality"\n', "", "of kind function has function, got no function"),
        ("timeout_s = 600", "timeout = 600", "has no key 'timeout'"),
        ("timeout_s = 600", "timeout_s = 0", "a timeout is a number of seconds above 0"),
        ("fidelities = [4, 12]", "fidelities = [12, 4]", "fidelities of a trainer rise"),
        ('name = "latency"', 'nam = "latency"', "has name, split, direction, unit and bounds"),
        ('unit = "%"', "unit = 7", "the unit of a metric is a text, got 7"),
        ('unit = "%"', 'units = "%"', "a metric has no field 'units'"),
        ("bounds = [0, 100]", "bounds = [0]", "has name, split, direction, unit and bounds"),
        ("bounds = [0, 100]", "bounds = [inf, 100]", "bounds of a metric are two numbers"),
        ('split = "validation"', 'split = "exam"', "a metric's split is train, validation, test or None"),
        ('space = "darts"', 'space = "dart"', "no space is called 'dart'; did you mean darts"),
        ('space = "darts"\n', "", "has a space, got none"),
    ],
)
def test_campaign_trainer_refuses_what_it_cannot_be(old: str, new: str, message: str) -> None:
    with pytest.raises(NasbedError, match=message):
        trainer_of(Campaign.parse(changed(old, new)))


def test_campaign_file_that_is_no_toml_or_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="there is no campaign file"):
        Campaign.read(tmp_path / "none.toml")
    path = tmp_path / "bad.toml"
    path.write_text("[campaign\n")
    with pytest.raises(BadFile, match=r"bad.toml cannot be read as TOML"):
        Campaign.read(path)
    path.write_text('[campaign]\nname = "x"\n')
    with pytest.raises(BadFile, match=r"bad.toml: a campaign has trials and shares, or a \[grid\]"):
        Campaign.read(path)


def test_campaigns_of_the_documentation_are_what_it_says(tmp_path: Path) -> None:
    text = page_text("collecting")
    (file,) = re.findall(r"```toml\n(.*?)```", text, flags=re.DOTALL)
    campaign = Campaign.parse(tomllib.loads(file))
    assert trainer_of(campaign).usual_round == campaign.round == 64
    (script,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    script += "assert results.manifest.rows == 200"
    assert fork_script(script, cwd=tmp_path).wait(timeout=60) == 0
