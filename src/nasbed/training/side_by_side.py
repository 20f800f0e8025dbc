"""Several networks of one kind trained side by side, each on its own images: one launch computes a layer of all."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import torch
from torch import Tensor

from nasbed.core.errors import InvalidOption
from nasbed.networks.stacking import StackedNetwork
from nasbed.training.cuda_graph_gradient import is_captured
from nasbed.training.cuda_graphs import Recording, recorded_if_possible
from nasbed.training.devices import chance_kept, set_chance
from nasbed.training.outcome import TrainingOutcome
from nasbed.training.recipe import Recipe
from nasbed.training.steps import correct_predictions, move, recipe_loss
from nasbed.training.stepwise import StepFigures, StepwiseTraining, TrainingStep


def check_side_by_side(recipe: Recipe) -> None:
    """Raise where networks have to be trained one at a time."""
    recipe.check_population()
    if recipe.precision != "float32":
        raise InvalidOption(
            f"networks train side by side in float32, the recipe {recipe.name} computes in {recipe.precision}; train "
            "them alone, without --together"
        )


def train_side_by_side(trainings: Sequence[StepwiseTraining]) -> Iterator[tuple[int, TrainingOutcome]]:
    """Train all networks by one recipe, on one device. Yields the place and the outcome of each when it ends.

    Each has the batches, learning rates and length that it has alone, and one with fewer steps ends before the others.
    Its ``train_time_s`` is the time that it took beside them.
    """
    recipe, device = trainings[0].recipe, trainings[0].images.labels.device
    check_side_by_side(recipe)
    if any(training.recipe != recipe for training in trainings):
        raise InvalidOption("networks train side by side by one recipe, these have several; train them alone")
    networks = [training.network for training in trainings]
    stacked = StackedNetwork(networks)
    batches = [next(training.images.batches("train", recipe.batch)) for training in trainings]
    with chance_kept(device), closing(_SharedGradient(stacked, recipe, batches)) as gradient:
        stacked.check(networks, [images for images, _ in batches])
        members = dict(enumerate(map(_MemberTraining, trainings)))
        while members:
            for place in [place for place, member in members.items() if member.outcome is not None]:
                yield place, members.pop(place).outcome  # type: ignore[misc]
            if members:
                figures = gradient({place: member.due for place, member in members.items()})
                for place, member in members.items():
                    member.move(figures[place])


class _MemberTraining:
    """One of the trainings: the step that is due, and in the end its outcome."""

    def __init__(self, training: StepwiseTraining) -> None:
        self._training, self._steps = training, training.steps()
        self.due: TrainingStep
        self.outcome: TrainingOutcome | None = None
        self._advance(None)

    def move(self, figures: StepFigures) -> None:
        """Move the weights by the gradient that they have."""
        move(self.due.optimizer, self._training.recipe, rate=self.due.rate)
        self._advance(figures)

    def _advance(self, figures: StepFigures | None) -> None:
        try:
            self.due = self._steps.send(figures)  # type: ignore[arg-type]
        except StopIteration as end:
            self.outcome = end.value
            for average in self._training.network.buffers():
                average.data = average.clone()  # those of the stacked network go on with the others


class _SharedGradient:
    """The gradients of all members at once, on a GPU from a recording. A member that has ended keeps its last batch,
    since the recording includes it."""

    def __init__(self, stacked: StackedNetwork, recipe: Recipe, batches: Sequence[tuple[Tensor, Tensor]]) -> None:
        self._stacked, self._recipe, self._batches = stacked, recipe, list(batches)
        self._recording: Recording | None = None
        self._is_recordable = True
        self._losses = self._correct = torch.empty(0)

    def __call__(self, due: Mapping[int, TrainingStep]) -> dict[int, StepFigures]:
        """Store the gradients in the members' networks; returns the figures of the steps that are due."""
        for place, step in due.items():
            self._batches[place] = step.batch
        first = next(iter(due.values()))
        inputs = [tensor for batch in self._batches for tensor in batch]
        if self._recording is None and self._is_recordable and is_captured(self._recipe, inputs[0].device):
            self._record(inputs)
        set_chance(inputs[0].device, first.seeds[1])
        if self._recording is not None:
            self._recording(*inputs)
        else:
            self._stacked.zero_grad(set_to_none=True)
            self._loss(*inputs).backward()  # type: ignore[no-untyped-call]
            self._stacked.share_gradients()
        return {place: (self._losses[place], self._correct[place]) for place in due}

    def close(self) -> None:
        """Free the memory of the recording and the gradients in the networks."""
        if self._recording is not None:
            self._recording.close()
            self._stacked.zero_grad(set_to_none=True)
            self._stacked.share_gradients()

    def _record(self, inputs: Sequence[Tensor]) -> None:
        self._recording = recorded_if_possible(
            lambda: Recording(self._stacked, self._loss, inputs), "trainings side by side"
        )
        if self._recording is None:
            self._is_recordable = False
            return
        for weight, gradient in self._recording.by_weights:
            weight.grad = gradient
        self._stacked.share_gradients()

    def _loss(self, *inputs: Tensor) -> Tensor:
        """The sum of the members' losses, whose gradient by the weights of one is that of its own loss."""
        images, labels = inputs[::2], inputs[1::2]
        outputs = self._stacked(images)
        losses = torch.stack(
            [recipe_loss(logits, [(1.0, own)], self._recipe) for logits, own in zip(outputs, labels, strict=True)]
        )
        self._losses = losses.detach()
        self._correct = torch.stack(
            [correct_predictions(logits, own) for logits, own in zip(outputs, labels, strict=True)]
        )
        return losses.sum()
