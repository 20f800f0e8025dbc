"""Options agree over all commands: the same name is the same thing, one thing has one name, former names still work."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import Any

import pytest
import typer

import nasbed
from nasbed.cli import app
from nasbed.terminal.former_options import UNTIL, former_options_of
from support.command_tree import Words, commands
from support.commands import run_command

LEAVES = [(words, leaf) for words, leaf in commands(typer.main.get_command(app)) if not hasattr(leaf, "commands")]
SHORT = {"-o": "--out", "-n": "--count", "-j": "--journal"}
MEANINGS = {
    "--out": r"\b([Ff]older|[Ff]ile|[Aa]ppend)\b",
    "--optimizers": r"\b(methods|ids)\b",
    "--processes": r"\b(processes|parallel)\b",
    "--workers": r"\bsimulated clock\b",
    "--seed": r"\bseed\b",
    "--sample-seed": r"\b[Ss]ample an architecture|random architectures\b",
    "--seeds": r"\b(seeds|[Rr]uns of each|Searches per method)\b",
    "--timeout": r"\bin seconds\b",
    "--budget": r"\bof each run\b",
    "--count": r"^The number of architectures\.$",
    "--top-percent": r"\bin per cent\b",
    "--at-least": r"\bevaluation worse\b",
    "--figures": r"\bfigures/NAME\.svg\b",
    "--json": r"^Print JSON, for scripts\.$",
    "--device": r"\bcpu\b",
    "--precision": r"\bfloat32\b",
    "--table": r"\btable\b",
    "--dataset": r"\b([Nn]ame from|dataset)\b",
    "--datasets": r"\b[Ff]olders?\b",
    "--model": r"^The model, from 'nasbed list surrogates'\.$",
    "--channels": r"\bof the first cells\b",
}
"""What the help of an option says wherever a command has it."""


def options(command: Any) -> dict[str, Any]:
    """The visible options of a command by their long names."""
    visible = [parameter for parameter in command.params if parameter.param_type_name == "option"]
    return {name: option for option in visible if not option.hidden for name in option.opts if name.startswith("--")}


OPTIONS: dict[str, list[tuple[Words, Any]]] = defaultdict(list)
for _words, _leaf in LEAVES:
    for _name, _option in options(_leaf).items():
        OPTIONS[_name].append((_words, _option))


def kind(option: Any) -> str:
    """What a value is: a path is a text, and whether an option may be given several times is not part of it."""
    annotation = option.type_descriptor.annotation
    (item,) = getattr(annotation, "__args__", (annotation,))
    return "flag" if option.is_flag else {"Path": "str"}.get(item.__name__, item.__name__)


def test_same_name_is_the_same_kind_of_value() -> None:
    assert len(OPTIONS) > 90 and len(OPTIONS["--out"]) > 25
    for name, uses in OPTIONS.items():
        kinds = {kind(option) for _, option in uses}
        assert len(kinds) == 1, (name, kinds, [words for words, _ in uses])


@pytest.mark.parametrize("name", MEANINGS)
def test_same_name_has_the_same_meaning(name: str) -> None:
    assert OPTIONS[name]
    for words, option in OPTIONS[name]:
        assert re.search(MEANINGS[name], option.help), (words, option.help)


def test_short_names_stand_for_the_same_option_everywhere() -> None:
    for name, uses in OPTIONS.items():
        for words, option in uses:
            short = [other for other in option.opts if not other.startswith("--")]
            expected = [other for other, long in SHORT.items() if name.removesuffix("s") == long]
            assert short == expected, (words, name)


def test_one_thing_has_one_name() -> None:
    """Two options with the same help are one option with two names."""
    by_help = defaultdict(set)
    for name, uses in OPTIONS.items():
        for _, option in uses:
            by_help[option.help].add(name)
    assert [names for names in by_help.values() if len(names) > 1] == []


def test_former_names_are_hidden_lead_to_an_option_and_go_in_time() -> None:
    former = {words: former_options_of(leaf) for words, leaf in LEAVES if former_options_of(leaf)}
    assert former["fit",] == {"--methods": "--optimizers"} and former["collect", "run"] == {"--workers": "--processes"}
    by_words = dict(LEAVES)
    for words, names in former.items():
        known = options(by_words[words])
        for old, new in names.items():
            assert old not in known and new.split()[0] in known, (words, old)
            assert (len(new.split()) == 1) or not known[new.split()[0]].is_flag
    assert tuple(map(int, re.findall(r"\d+", nasbed.__version__)[:2])) < tuple(map(int, UNTIL.split(".")))


def test_command_takes_a_former_name_and_notes_the_new_one() -> None:
    new = run_command("space", "enumerate", "transnas-macro", "--count-only")
    old = run_command("space", "enumerate", "transnas-macro", "--count")
    assert (new.returncode, old.returncode, new.stderr) == (0, 0, "") and old.stdout == new.stdout
    assert old.stderr == "nasbed: --count is now --count-only; the former name goes in version 0.3\n"


def test_short_form_of_collect_takes_a_former_name_too() -> None:
    refused = run_command("collect", "no.toml", "--workers=2")
    assert refused.stderr.splitlines()[0] == "nasbed: --workers is now --processes; the former name goes in version 0.3"
    assert "there is no campaign file no.toml" in refused.stderr


def test_every_command_stands_in_a_group_of_the_help() -> None:
    tree: Any = typer.main.get_command(app)
    panels = {name: command.rich_help_panel for name, command in tree.commands.items()}
    assert all(panels.values()), panels
    assert set(panels.values()) >= {"Benchmarks", "Search", "Make a benchmark", "Proxies", "Studies"}
