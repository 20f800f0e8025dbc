"""Families of datasets: one generator with parameters, of which a published dataset is one choice."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from nasbed.core.errors import InvalidOption
from nasbed.datasets.unseen.base import UnseenGenerator
from nasbed.datasets.unseen.families.parameters import FamilyParameter, chosen_settings


class DatasetFamily(UnseenGenerator):
    """Datasets that differ in their parameters. A published dataset is a subclass with a ``preset``."""

    parameters: ClassVar[tuple[FamilyParameter, ...]]
    preset: ClassVar[Mapping[str, Any]] = {}
    """The parameters of a published dataset that differ from the family's defaults."""

    def __init__(self, **settings: Any) -> None:
        chosen = {**self.preset, **settings}
        self.settings = chosen_settings(self.name, self.parameters, chosen)
        for key, value in self.fitting_defaults():
            if key not in chosen:
                self.settings[key] = value
        self.counts = (self.settings["train"], self.settings["valid"], self.settings["test"])
        self._configure()
        if min(self.counts) < len(self.classes):
            raise InvalidOption(
                f"each part of {self.name} has an image of each of the {len(self.classes)} classes, got "
                f"{'/'.join(map(str, self.counts))} images; set train, valid and test to more"
            )

    def fitting_defaults(self) -> Iterator[tuple[str, Any]]:
        """Keys of parameters with defaults that depend on other settings, those that come before included."""
        return iter(())

    @abstractmethod
    def _configure(self) -> None:
        """Set ``shape``, ``classes`` and ``rule`` by the settings; raise where they do not go together."""
