"""What copies of games in Chesseract are worth to a network that memorises: its accuracy on test images of games that
are trained on too, and on the others.

    python benchmarks/chesseract_copies.py make PGN_FOLDER OUT
    nasbed data baseline OUT --network resnet18 --epochs 32 --checkpoint copies.pt --out results.jsonl
    python benchmarks/chesseract_copies.py judge PGN_FOLDER OUT copies.pt

The training takes half an hour on one core.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch

from nasbed.datasets.opening import open_dataset
from nasbed.datasets.unseen.chesseract import ChesseractWithCopies
from nasbed.datasets.unseen.export import write_unseen
from nasbed.datasets.unseen.sources.chess_games import read_games
from nasbed.datasets.unseen.sources.material import content, files_ending
from nasbed.networks.baselines import baseline
from nasbed.training import load_recipe
from nasbed.training.checkpoint import TRAINING
from nasbed.training.images import TrainingImages


def make(source: Path, out: Path) -> None:
    def report(step: str, count: int, total: int | None) -> None:
        pass

    dataset = ChesseractWithCopies()
    generated = dataset.make(source, seed=0, progress=report)
    write_unseen(dataset, generated, out, seed=0, progress=report)


def judge(source: Path, folder: Path, checkpoint: Path) -> None:
    files = files_ending(source, ".pgn")
    moves = {(game.file, game.number): game.moves for name in files for game in read_games(name, content(files[name]))}
    games = {}
    for part in ("train", "test"):
        with np.load(folder / f"{part}_origins.npz") as origins:
            games[part] = [moves[str(f), int(n)] for f, n in zip(origins["pgn"], origins["number"], strict=True)]
    trained_on = set(games["train"])
    copied = np.array([game in trained_on for game in games["test"]])
    network = baseline("resnet18", classes=3, channels_in=12, image=(8, 8))
    network.load_state_dict(TRAINING.content(checkpoint)["network"])
    network.eval()
    images = TrainingImages(open_dataset(str(folder)), load_recipe("unseen"), torch.device("cpu"))
    with torch.inference_mode():
        right = torch.cat([network(x).argmax(1) == y for x, y in images.batches("test", 500)]).numpy()
    print(
        f"{copied.sum()} of {len(copied)} test images are of games that are trained on: {right[copied].mean():.1%} right"
    )
    print(f"the others: {right[~copied].mean():.1%}, all: {right.mean():.2%}")


if __name__ == "__main__":
    command, *paths = sys.argv[1:]
    if command == "make":
        make(*map(Path, paths))
    else:
        judge(*map(Path, paths))
