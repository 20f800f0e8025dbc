"""The family of Chesseract: positions of games of chess, and a label that game and position decide."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import PARTS, GeneratedDataset, GeneratedPart, positions_in
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.families.chess_board import draw_board
from nasbed.datasets.unseen.families.family import DatasetFamily
from nasbed.datasets.unseen.families.parameters import NamedChoice, Several, Whole, image_counts
from nasbed.datasets.unseen.sources.chess_games import (
    PERCENT,
    RESULTS,
    Bitboards,
    Game,
    chess_package,
    distinct_games,
    games_with_result,
    planes,
    read_games,
    replayed,
)
from nasbed.datasets.unseen.sources.material import content, files_ending, open_material, sha256

PLAYERS = ("Anand", "Carlsen", "Caruana", "Fischer", "Karpov", "Kasparov", "Nakamura", "Tal")
PAWNS = np.array([1, 3, 3, 5, 9, 0, -1, -3, -3, -5, -9, 0])
"""What the pieces of the planes are worth in pawns, Black's negative."""
_DIVIDED, _LABELLED, _PICKED = range(3)


@dataclass(frozen=True, slots=True)
class PositionLabel:
    """Labels of positions, −1 where one is not used. They follow from the number of the game's result, the number of
    half moves so far, and the pieces of each plane, ``[n, 12]``."""

    classes: tuple[str, ...]
    sentence: str
    label: Callable[[Integers, Integers, Integers], Integers]


LABELS = {
    "result": PositionLabel(
        ("White wins", "draw", "Black wins"), "the game's result", lambda result, ply, pieces: result
    ),
    "winner": PositionLabel(
        ("White wins", "Black wins"),
        "who wins, in games that are not drawn",
        lambda result, ply, pieces: np.array([0, -1, 1])[result],
    ),
    "decisive": PositionLabel(
        ("a side wins", "draw"), "whether the game is drawn", lambda result, ply, pieces: (result == 1).astype(np.int64)
    ),
    "material": PositionLabel(
        ("White has more", "even", "Black has more"),
        "who has more material (pawn 1, knight and bishop 3, rook 5, queen 9)",
        lambda result, ply, pieces: 1 - np.sign(pieces @ PAWNS),
    ),
    "to-move": PositionLabel(
        ("White to move", "Black to move"), "whose turn it is", lambda result, ply, pieces: ply % 2
    ),
}


class Chess(DatasetFamily):
    """Positions as twelve planes.

    What is decided where the paper is silent:

    - Planes are White's pawns, knights, bishops, rooks, queens and king, then Black's. Row 0 is rank 8 and column 0 is
      file a, no matter which side is to move. The side to move cannot be seen.
    - Positions are those after each half move. Of n, the last 15·n/100 are used, rounded down.
    - A game that is in two players' files, or there twice, is one game: same moves, or one the beginning of the other
      from 40 half moves on. Games without a result, or that cannot be replayed, are left out and counted on the card.
    - Games are divided between the parts by chance, for each result in proportion to the images. A position that games
      of two parts reach is left out, so that no image is in two parts; within a part, one is used once for a label.
    - Labels are balanced to the image; positions are drawn from all that a part has.
    """

    name = "chess"
    title = "Chess"
    kind = 1
    shape = (12, 8, 8)
    parameters = (
        Several("players", PLAYERS, "whose games: how files begin", 1, "names", "[A-Za-z]+"),
        NamedChoice("label", "result", "what the label is", {name: rule.sentence for name, rule in LABELS.items()}),
        Whole("last", PERCENT, "per cent of a game's positions that are used, the last ones", 1, 100),
        Whole("skip", 0, "per cent at the end of a game that are left out of these", 0, 99),
        *image_counts(49_998, 9_999, 9_999),
    )
    hygiene: tuple[str, ...] = ("game", "position")
    licence = "moves of games are facts and free"
    copies: ClassVar[bool] = False
    """Whether two copies of a game count as two games."""

    def _configure(self) -> None:
        self.players: tuple[str, ...] = self.settings["players"]
        self.last, self.skip = self.settings["last"], self.settings["skip"]
        if self.skip >= self.last:
            raise InvalidOption(f"skip is less than last, got {self.skip} and {self.last}; set a larger last")
        self.position_label = LABELS[self.settings["label"]]
        self.classes = self.position_label.classes
        plies = f"the last {self.last} % of" + (f" a game but the final {self.skip} %" if self.skip else " a game")
        self.rule = (
            f"A position from {plies}, a plane for each piece and colour; the label is {self.position_label.sentence}."
        )
        self.needs = (
            f"a folder of PGN files as --source, {', '.join(f'{player}.pgn' for player in self.players)}, .gz or not "
            "(pgnmentor.com has them)"
        )

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        chess_package()
        all_games, digests = self._games(source)
        games, left_out = games_with_result(all_games) if self.copies else distinct_games(all_games)
        boards = list(replayed(games, progress, last=self.last, skip=self.skip))
        left_out["that cannot be replayed"] = sum(board is None for board in boards)
        playable = [(game, masks) for game, masks in zip(games, boards, strict=True) if masks is not None]
        if not playable:
            raise BadFile(f"{source} has games with a result, none of {len(all_games)} can be replayed; get it again")
        positions, note = self._usable(playable, draws)
        train, valid, test = (self._part(draws, part, positions) for part in range(3))
        notes = (_games_note(len(all_games), len(playable), left_out), note)
        return GeneratedDataset(train, valid, test, sources=digests, notes=notes)

    def _games(self, source: Path | None) -> tuple[list[Game], dict[str, str]]:
        games: list[Game] = []
        digests: dict[str, str] = {}
        begins = tuple(player.lower() for player in self.players)
        with open_material(source, self.needs) as folder:
            files = files_ending(folder, ".pgn")
            if missing := [
                player for player in self.players if not any(name.lower().startswith(player.lower()) for name in files)
            ]:
                raise BadFile(
                    f"the games of {len(self.players)} players are needed, {source} has no "
                    f"{', '.join(f'{player}.pgn' for player in missing)}; add what is missing"
                )
            for name, path in files.items():
                if name.lower().startswith(begins):
                    data = content(path)
                    games += read_games(name, data)
                    digests[name] = sha256(data)
        return games, digests

    def _usable(self, playable: list[tuple[Game, Bitboards]], draws: Draws) -> tuple[_Positions, str]:
        """The positions of all games, each once for a label in its part; without ``copies`` none that is in two
        parts."""
        games = tuple(game for game, _ in playable)
        sizes = np.array([len(masks) for _, masks in playable])
        results = np.array([RESULTS.index(game.result) for game in games])
        parts = _divided(sizes, results, draws, self.counts)
        masks = np.concatenate([masks for _, masks in playable])
        game = np.repeat(np.arange(len(games)), sizes)
        ply = np.concatenate([np.array(item.late_plies(self.last, self.skip), np.int64) for item in games])
        label = self.position_label.label(results[game], ply, np.bitwise_count(masks).astype(np.int64))
        _, first, number = np.unique(masks, axis=0, return_index=True, return_inverse=True)
        number = number.ravel()
        part = parts[game]
        shared = np.zeros(len(first), np.bool_)
        if not self.copies:
            shared[number[part != part[first][number]]] = True
        first_use = np.zeros(len(masks), np.bool_)
        first_use[np.unique((number * len(PARTS) + part) * 10 + label, return_index=True)[1]] = True
        rows = np.flatnonzero(first_use & ~shared[number] & (label >= 0))
        note = (
            f"Positions: {len(masks)}; left out: {np.count_nonzero(shared[number])} that are in two parts, "
            f"{np.count_nonzero(~first_use & ~shared[number])} that repeat an earlier one with the same label."
        )
        number, part, label = (column[rows] for column in (number, part, label))
        return _Positions(games, masks[rows], game[rows], ply[rows], number, part, label), note

    def _part(self, draws: Draws, part: int, positions: _Positions) -> GeneratedPart:
        labels = draws.balanced(self.counts[part], len(self.classes), _LABELLED, part)
        in_part = positions.part == part
        pools = [np.flatnonzero(in_part & (positions.label == label)) for label in range(len(self.classes))]
        for name, pool, images in zip(self.classes, pools, np.bincount(labels), strict=True):
            if len(pool) < images:
                raise BadFile(
                    f"every image needs its own position, '{name}' has {len(pool)} of {images} for "
                    f"{PARTS[part]}; add games"
                )
        indices = draws.without_repeats(labels, pools, _PICKED, part)
        game = positions.game[indices]
        origins = {
            "game": game,
            "position": positions.number[indices],
            "ply": positions.ply[indices],
            "pgn": np.array([item.file for item in positions.games])[game],
            "number": np.array([item.number for item in positions.games])[game],
            "result": np.array([item.result for item in positions.games])[game],
        }
        return GeneratedPart(planes(positions.masks[indices]), labels, origins)

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """The labels by the rule; −1 where the planes are not a position: a king of each colour, one piece a square."""
        pieces = images.sum(axis=(2, 3), dtype=np.int64)
        result = positions_in(RESULTS, origins["result"])
        labels = np.where(result < 0, -1, self.position_label.label(result, origins["ply"], pieces))
        labels[(pieces[:, [5, 11]] != 1).any(axis=1) | (images.sum(axis=1) > 1).any(axis=(1, 2))] = -1
        return labels

    def picture(self, image: Images) -> NDArray[np.uint8]:
        return draw_board(image)


@dataclass(frozen=True, slots=True, eq=False)
class _Positions:
    """One row for each position. It holds its planes as masks, the number of its game, and the number of the half move
    before it, from 1. Then come the number of the position, the same in all games, its part and its label."""

    games: tuple[Game, ...]
    masks: Bitboards
    game: Integers
    ply: Integers
    number: Integers
    part: Integers
    label: Integers


def _divided(sizes: Integers, results: Integers, draws: Draws, counts: tuple[int, int, int]) -> Integers:
    """The part of each game: for each result, games in random order fill the parts in proportion to the images."""
    parts = np.empty(len(sizes), np.int64)
    for result in range(len(RESULTS)):
        indices = np.flatnonzero(results == result)
        order = indices[draws.order(len(indices), _DIVIDED, result)]
        starts = np.cumsum(sizes[order]) - sizes[order]
        ends = sizes[indices].sum() * np.cumsum(counts) // sum(counts)
        parts[order] = np.minimum(np.searchsorted(ends, starts, side="right"), len(counts) - 1)
    return parts


def _games_note(read: int, used: int, left_out: Mapping[str, int]) -> str:
    reasons = ", ".join(f"{count} {reason}" for reason, count in left_out.items() if count)
    return f"Games: {read} read, {used} used; left out: {reasons or 'none'}."
