"""The published tables that have an id: what each is and how to get it."""

from __future__ import annotations

from dataclasses import dataclass

from nasbed.core.packages import EXTRAS
from nasbed.spaces import space

TRANSNAS_TASKS = (
    "autoencoder",
    "class_object",
    "class_scene",
    "jigsaw",
    "normal",
    "room_layout",
    "segmentsemantic",
)


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A published table. ``wheel`` names the import format that reads it from an installed package, if one does.

    ``part`` is the name of a part of the space where the entry is that part of another table, called ``table``.
    """

    name: str
    space: str
    summary: str
    get: str
    wheel: str | None = None
    table: str = ""
    part: str = ""

    @property
    def architectures(self) -> int:
        """How many architectures the table holds: all of its space, or of the part."""
        searched = space(self.space)
        return searched.parts[self.part].size if self.part else searched.size


def _published_tables() -> dict[str, PublishedTable]:
    tables = EXTRAS["tables"].install
    entries = [
        PublishedTable("nb101", "nb101", "CIFAR-10, 4 budgets × 3 repeats, each half-way too", "nasbed fetch nb101"),
        PublishedTable(
            "nb101-108", "nb101", "CIFAR-10, 108 epochs × 3 repeats, half-way too", "nasbed fetch nb101-108"
        ),
        PublishedTable(
            "nb101-mini",
            "nb101",
            "NAS-Bench-Mini: the cells of nb101 with at most six vertices",
            "nasbed fetch nb101",
            table="nb101",
            part="mini",
        ),
    ]
    for dataset in ("cifar10", "cifar100", "imagenet16-120"):
        entries.append(PublishedTable(f"nb201/{dataset}", "nb201", f"{dataset}, 200 epochs", tables, "nb201"))
        for part, space_name in (("tss", "nb201"), ("sss", "nats-sss")):
            summary = f"NATS-Bench on {dataset}: several budgets and seeds"
            get = "nasbed import nats-bench FOLDER"
            entries.append(PublishedTable(f"nats-{part}/{dataset}", space_name, summary, get))
    for dataset in ("protein", "naval", "slice", "parkinsons"):
        entries.append(PublishedTable(f"fcnet/{dataset}", "fcnet", f"NAS-HPO-Bench on {dataset}", tables, "fcnet"))
    for part in ("micro", "macro"):
        for task in TRANSNAS_TASKS:
            name, get = f"transnas-{part}", "nasbed import transnas FILE"
            entries.append(PublishedTable(f"{name}/{task}", name, f"Taskonomy {task}", get))
    return {entry.name: entry for entry in entries}


PUBLISHED_TABLES = _published_tables()
