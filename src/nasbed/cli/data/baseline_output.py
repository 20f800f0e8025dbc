"""What ``nasbed data baseline`` prints and keeps of a training."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from nasbed.core.json_values import plain
from nasbed.experiments.unseen.published import published
from nasbed.experiments.unseen.results import ResultsFile, UnseenResult, append_result
from nasbed.terminal.output import readable
from nasbed.terminal.progress import note
from nasbed.training.outcome import EpochEnd


def progress_text(end: EpochEnd) -> str:
    """The end of an epoch: the mean loss in nats, the validation accuracy in per cent."""
    accuracy = end.validation_accuracy
    return f"loss {end.loss:.3f}" + (f"  validation {accuracy:.2f} %" if accuracy is not None else "")


def add_to_file(path: Path, result: UnseenResult) -> None:
    """Append a result, unless it is there: resuming a training that had ended gives the same result again."""
    if result in ResultsFile(path).results:
        note(f"{path} has the result of {result.model} on {result.dataset} already")
    else:
        append_result(path, result)


def result_json(result: UnseenResult) -> object:
    """Every field and the published accuracy, as plain values."""
    return plain(asdict(result) | {"published": _published_accuracy(result)})


def result_fields(result: UnseenResult) -> dict[str, object]:
    """Names and values, without values that were not measured."""
    train, valid, test = result.images
    published_accuracy = _published_accuracy(result)
    epochs = f"{result.epochs} epoch{'s' if result.epochs > 1 else ''}"
    fields: dict[str, object] = {
        "model": f"{result.model}, {readable(result.parameters)} parameters",
        "dataset": f"{result.dataset}: {readable(train)} images trained on, {readable(valid)} validate, "
        f"{readable(test)} test",
        "recipe": f"{result.recipe['name']}, {epochs}, seed {result.seed}",
        "device": result.device,
        "status": result.status + (f": {result.reason}" if result.reason else ""),
        "train time": f"{result.train_time_s:.1f} s",
    }
    measured = {epoch: value for epoch, value in result.validated.items() if value is not None}
    if len(measured) > 1:
        fields["validation by epoch"] = ", ".join(f"{value:.2f}" for value in measured.values()) + " %"
    for name, value in (("validation", result.validation_accuracy), ("test", result.test_accuracy)):
        if value is not None:
            fields[f"{name} accuracy"] = f"{value:.2f} %"
    fields["published"] = (
        f"{published_accuracy:.2f} % after 64 epochs (table 1)" if published_accuracy is not None else "nothing"
    )
    if published_accuracy is not None and result.test_accuracy is not None:
        fields["difference"] = f"{result.test_accuracy - published_accuracy:+.2f} points"
    return fields


def _published_accuracy(result: UnseenResult) -> float | None:
    return published().accuracy(result.dataset, result.model)
