"""The pipeline of the competition, inside the process of a submission: process, search, train, predict.

``python -m nasbed.challenge.pipeline FD``: the file with that number holds the request as JSON. The arrays come through
a pipe, which is closed before any code of the submission runs, so that nothing leads back to their files. It sends the
runner lines of JSON and finally the predictions as an array; the runner trusts neither.
"""

from __future__ import annotations

import inspect
import io
import json
import os
import sys
import traceback
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from nasbed.challenge.array_stream import receive_array
from nasbed.challenge.clock import Clock
from nasbed.challenge.contest_data import INPUTS


class Sender:
    """Reports the progress of the submission to the runner."""

    def __init__(self, descriptor: int) -> None:
        self._file = os.fdopen(descriptor, "wb")
        self.stage = "start"

    def line(self, **message: object) -> None:
        self._file.write(json.dumps(message).encode() + b"\n")
        self._file.flush()

    def enter_stage(self, stage: str) -> None:
        self.stage = stage
        self.line(stage=stage)

    def predictions(self, values: Any, parameters: int | None) -> None:
        buffer = io.BytesIO()
        np.save(buffer, np.asarray(values), allow_pickle=False)
        self.line(predictions=buffer.tell(), parameters=parameters)
        self._file.write(buffer.getvalue())
        self._file.flush()


def main() -> None:
    with os.fdopen(int(sys.argv[1]), "rb") as file:
        request = json.load(file)
    sender = Sender(request["result"])
    os.set_inheritable(request["result"], False)
    status = 1
    try:
        sender.enter_stage("reading the data")
        with os.fdopen(request["arrays"], "rb", buffering=0) as file:
            arrays = [receive_array(file) for _ in INPUTS]
        _run(sender, arrays, request)
        status = 0
    except BaseException as error:
        traceback.print_exc()
        kind = type(error).__name__
        sender.line(error=f"{kind}: {error}"[:2000].removesuffix(": "), stage=sender.stage)
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # whatever threads the submission left


def _run(sender: Sender, arrays: list[Any], request: dict[str, Any]) -> None:
    clock, metadata = Clock(request["deadline"]), request["metadata"]
    sys.path.insert(0, str(Path.cwd()))
    sys.argv = ["main.py"]
    classes = []
    for module, name in (("nas", "NAS"), ("data_processor", "DataProcessor"), ("trainer", "Trainer")):
        sender.enter_stage(f"importing {module}")
        classes.append(getattr(_import(module), name))
    nas, processor, trainer = classes
    _seed(request["seed"])

    sender.enter_stage("DataProcessor")
    metadata["time_remaining"] = clock.check()
    instance = _instantiate(processor, *arrays, metadata, clock)
    arrays.clear()
    sender.enter_stage("DataProcessor.process")
    train, valid, test = instance.process()
    del instance
    _check_order(test)

    sender.enter_stage("NAS")
    metadata["time_remaining"] = clock.check()
    search = _instantiate(nas, train, valid, metadata, clock)
    sender.enter_stage("NAS.search")
    model = search.search()
    parameters = _parameters(model)

    sender.enter_stage("Trainer")
    metadata["time_remaining"] = clock.check()
    training = _instantiate(trainer, model, _device(request["device"]), train, valid, metadata, clock)
    sender.enter_stage("Trainer.train")
    training.train()
    sender.enter_stage("Trainer.predict")
    predictions = training.predict(test)
    sender.enter_stage("returning the predictions")
    sender.predictions(predictions, parameters)


def _import(module: str) -> Any:
    """A module of the submission. Most import torchvision, which needs a workaround with a torch without CUDA."""
    try:
        return import_module(module)
    except RuntimeError as error:
        if "torchvision::" not in str(error):
            raise
    from nasbed.networks.baselines.vision import import_torchvision

    import_torchvision()
    return import_module(module)


def _instantiate(kind: Callable[..., Any], *arguments: Any) -> Any:
    """An instance; submissions to the competition of 2022 take no clock, which comes last."""
    try:
        inspect.signature(kind).bind(*arguments)
    except TypeError:
        try:
            inspect.signature(kind).bind(*arguments[:-1])
        except TypeError:
            return kind(*arguments)  # neither fits: let it say so itself
        return kind(*arguments[:-1])
    except ValueError:
        pass
    return kind(*arguments)


def _check_order(loader: Any) -> None:
    """Predictions are matched to images by order, so the test loader must keep it."""
    if type(getattr(loader, "sampler", None)).__name__ == "RandomSampler":
        raise ValueError("the test loader keeps the order of the images, this one shuffles; make it with shuffle=False")
    if getattr(loader, "drop_last", False):
        raise ValueError("the test loader has every image, this one drops the last ones; make it with drop_last=False")


def _seed(seed: int) -> None:
    """Seed every source of randomness that the submission may use, so that runs are as repeatable as it allows."""
    import random

    random.seed(seed)
    np.random.seed(seed)
    torch = sys.modules.get("torch")
    if torch is not None:
        torch.manual_seed(seed)


def _device(name: str) -> Any:
    torch = sys.modules.get("torch")
    return name if torch is None else torch.device(name)


def _parameters(model: Any) -> int | None:
    """The number of trainable parameters of a torch module."""
    try:
        return sum(int(parameter.numel()) for parameter in model.parameters() if parameter.requires_grad)
    except (AttributeError, TypeError, ValueError):
        return None


if __name__ == "__main__":
    main()
