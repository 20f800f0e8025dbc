"""The size search space of NATS-Bench: how many channels each stage of a fixed network has."""

from __future__ import annotations

import re

from nasbed.core.architecture import Architecture
from nasbed.core.errors import ParseError, shorten
from nasbed.spaces.base import Batch
from nasbed.spaces.choice import ChoiceSpace
from nasbed.spaces.graph import Diagram, Graphs, Node, chain_graphs, chain_links
from nasbed.spaces.native_text import NativeTextSpace

CHANNELS = tuple(range(8, 65, 8))
STAGES = 5
_TEXT = re.compile(":".join([r"([0-9]{1,2})"] * STAGES))


class NatsSSS(NativeTextSpace, ChoiceSpace):
    """Five channel counts, 8 to 64 in steps of 8; ``code[i]`` is the count of stage ``i + 1`` divided by 8, less 1.

    The native form is the published ``8:16:24:32:40``.

    >>> NatsSSS().parse("8:16:24:32:64").code
    (0, 1, 2, 3, 7)
    """

    name = "nats-sss"
    title = "NATS-Bench, size: eight channel counts for five stages"
    citation = (
        "Dong, Liu, Musial & Gabrys, NATS-Bench: Benchmarking NAS Algorithms for Architecture Topology and Size, TPAMI "
        "2021, arXiv:2009.00437"
    )
    choice_names = tuple(f"channels_{stage}" for stage in range(1, STAGES + 1))
    choices = (tuple(map(str, CHANNELS)),) * STAGES

    def format(self, arch: Architecture) -> str:
        return ":".join(self.to_options(arch))

    def parse(self, text: str) -> Architecture:
        match = _TEXT.fullmatch(text.strip()) if isinstance(text, str) else None
        if match is None:
            raise ParseError(f"a {self.name} text reads 8:16:24:32:40, got {shorten(text)}")
        return self.from_options(match.groups())

    def graphs(self, archs: Batch) -> Graphs:
        """Chains: the input, the stages labelled by their channels, the output."""
        return chain_graphs(self.codes(archs), self.choices[0])

    def diagrams(self, arch: Architecture) -> tuple[Diagram, ...]:
        """One picture: the stages in a row."""
        nodes = (
            Node("input", "input", "input", at=(0, 0)),
            *(
                Node(name, f"{channels} channels", at=(place, 0))
                for place, (name, channels) in enumerate(
                    zip(self.choice_names, self.to_options(arch), strict=True), start=1
                )
            ),
            Node("output", "output", "output", at=(STAGES + 1, 0)),
        )
        return (Diagram("NATS-Bench network", nodes, chain_links(nodes)),)
