"""What training a network costs on a device: seconds a unit for each kind of launch, measured once and kept in a file.

The cost of a network is the sum over its launches, times the steps of its training. It depends on the architecture, the
recipe and the calibration, and on nothing else: two populations agree on it.

Seconds are those of networks in company. Each launch is timed alone, in random populations of ``population`` networks.
``scale`` makes the costs of a whole population add up to the measured time of its step. With populations of one network
they are the seconds of training it alone.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from nasbed.core.checksummed_json import is_sealed, sealed
from nasbed.core.errors import BadFile, InvalidOption, shorten
from nasbed.core.files import complete_file
from nasbed.training.population.program import NetworkProgram
from nasbed.training.population.work import Work, works
from nasbed.training.recipe import Recipe

FORMAT, FORMAT_VERSION = "nasbed calibration", 1


@dataclass(frozen=True, slots=True)
class CostSetting:
    """What the cost of an architecture's training step depends on, beside the device."""

    space: str
    classes: int
    channels: int
    side: tuple[int, int]
    batch: int
    precision: str
    skeleton: Mapping[str, Any]
    gradient_clip: bool

    @classmethod
    def of(cls, space: str, recipe: Recipe, *, classes: int, shape: tuple[int, int, int]) -> CostSetting:
        """The setting of trainings.

        Args:
            space: The id of the space.
            recipe: How networks are trained.
            classes: How many the dataset has.
            shape: Channels, height and width of its images.
        """
        settings = recipe.settings()
        return cls(
            space, classes, shape[0], shape[1:], recipe.batch, recipe.precision, settings["skeleton"] or {},
            recipe.gradient_clip is not None,
        )  # fmt: skip

    @property
    def value_bytes(self) -> int:
        """Bytes of a value of an activation."""
        return 2 if self.precision == "bfloat16" else 4


@dataclass(frozen=True, slots=True)
class CostCalibration:
    """The seconds of each kind of launch on one device.

    ``seconds`` are per unit; ``lanes`` are the channels of a bundle where kernels run networks, None where torch does.
    ``step_s`` has, for each population that was measured, the time of its step and what its networks cost together.
    ``train_images`` says how many images a dataset trains on, where it was there.
    """

    setting: CostSetting
    device: str
    lanes: int | None
    population: int
    seconds: Mapping[str, float]
    scale: float
    step_s: Sequence[tuple[float, float]] = ()
    dataset: str = ""
    train_images: int | None = None
    libraries: Mapping[str, str] | None = None
    created: str = ""

    def cost(self, work: Work) -> float:
        """Seconds of one training step of a network; NaN where it has a kind of launch that was not measured."""
        return self.scale * sum(units * self.seconds.get(kind, math.nan) for kind, units in work.items())

    def unmeasured(self, work: Work) -> list[str]:
        """The kinds of launches of a network that were not measured."""
        return [kind for kind in work if kind not in self.seconds]

    def works(self, programs: Sequence[NetworkProgram]) -> list[Work]:
        """The work of each network on the device of this calibration."""
        setting = self.setting
        return works(programs, batch=setting.batch, value_bytes=setting.value_bytes, lanes=self.lanes)

    def check_setting(self, setting: CostSetting) -> None:
        """Raise unless a calibration is one of these trainings."""
        for item in fields(CostSetting):
            own, other = getattr(self.setting, item.name), getattr(setting, item.name)
            if own != other:
                raise InvalidOption(
                    f"a calibration is for trainings with one {item.name}, got {shorten(own)} for {shorten(other)}; "
                    "make another: nasbed collect calibrate"
                )

    def steps(self, recipe: Recipe, epochs: int) -> int:
        """The steps of a training."""
        images = self.train_images or (recipe.split or (recipe.epoch_images,))[0]
        if images is None:
            raise InvalidOption(
                f"the recipe {recipe.name} trains on all images, and the calibration does not say how many; make "
                "another where the dataset is prepared: nasbed collect calibrate"
            )
        return epochs * recipe.steps_per_epoch(images)

    def to_bytes(self) -> bytes:
        """The content of its file."""
        return sealed({"format": FORMAT, "format_version": FORMAT_VERSION, **asdict(self)})

    @property
    def sha256(self) -> str:
        """The checksum that its file carries."""
        return str(json.loads(self.to_bytes())["sha256"])

    def save(self, path: str | Path) -> None:
        """Write the file; :meth:`load` reads it."""
        path = Path(path)
        with complete_file(path) as draft:
            draft.write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: Path | str) -> CostCalibration:
        """The calibration in a file; raises unless it is complete and unchanged."""
        path = Path(path)
        try:
            content = path.read_bytes()
            data = json.loads(content)
        except (OSError, ValueError) as error:
            raise BadFile(f"{path} cannot be read as a calibration: {error}; see: nasbed collect calibrate") from None
        if not isinstance(data, dict) or data.get("format") != FORMAT or data.get("format_version") != FORMAT_VERSION:
            raise BadFile(f"{path} is not a calibration of this version of nasbed; see: nasbed collect calibrate")
        if not is_sealed(content, data):
            raise BadFile(f"{path} was changed after it was written; get it again")
        values = {item.name: data[item.name] for item in fields(cls)}
        setting = data["setting"] | {"side": tuple(data["setting"]["side"])}
        step_s = tuple((float(measured), float(cost)) for measured, cost in data["step_s"])
        return cls(**(values | {"setting": CostSetting(**setting), "step_s": step_s}))
