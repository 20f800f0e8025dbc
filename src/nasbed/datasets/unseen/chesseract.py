"""Chesseract (section 4.8): late positions of grandmasters' games, and how the game ended."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile
from nasbed.datasets.dataset import Images, Labels
from nasbed.datasets.source import Progress
from nasbed.datasets.unseen.base import PARTS, GeneratedDataset, GeneratedPart, UnseenGenerator, positions_in
from nasbed.datasets.unseen.chess_board import draw_board
from nasbed.datasets.unseen.draws import Draws, Integers
from nasbed.datasets.unseen.sources.chess_games import (
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
_DIVIDED, _LABELLED, _PICKED = range(3)


class Chesseract(UnseenGenerator):
    """Labels: White wins is 0, as in the paper's figure 3, a draw 1, Black wins 2.

    What is decided where the paper is silent:

    - Planes are White's pawns, knights, bishops, rooks, queens and king, then Black's. Row 0 is rank 8 and column 0 is
      file a, no matter which side is to move. The side to move cannot be seen.
    - Positions are those after each half move. Of n, the last 15·n/100 are used, rounded down.
    - A game that is in two players' files, or there twice, is one game: same moves, or one the beginning of the other
      from 40 half moves on. Games without a result, or that cannot be replayed, are left out and counted on the card.
    - Games are divided between the parts by chance, for each result in proportion to the images. A position that games
      of two parts reach is left out, so that no image is in two parts; within a part, one is used once for a result.
    - Results are balanced to the image; positions are drawn from all that a part has.
    """

    name = "chesseract"
    title = "Chesseract"
    kind = 1
    shape = (12, 8, 8)
    classes = ("White wins", "draw", "Black wins")
    counts = (49_998, 9_999, 9_999)
    benchmark = 57.83
    rule = "A late position of a grandmaster's game, a plane for each piece and colour; the label is the game's result."
    needs = (
        f"a folder of PGN files as --source, {', '.join(f'{player}.pgn' for player in PLAYERS)}, .gz or not "
        "(pgnmentor.com has them)"
    )
    hygiene: ClassVar[tuple[str, ...]] = ("game", "position")
    licence = "moves of games are facts and free"
    copies: ClassVar[bool] = False
    """Whether two copies of a game count as two games."""

    def _generate(self, source: Path | None, draws: Draws, progress: Progress) -> GeneratedDataset:
        chess_package()
        all_games, digests = _games(source, self.needs)
        games, left_out = games_with_result(all_games) if self.copies else distinct_games(all_games)
        boards = list(replayed(games, len(games), progress))
        left_out["that cannot be replayed"] = sum(board is None for board in boards)
        playable = [(game, masks) for game, masks in zip(games, boards, strict=True) if masks is not None]
        if not playable:
            raise BadFile(f"{source} has games with a result, none of {len(all_games)} can be replayed; get it again")
        notes = [_games_note(len(all_games), len(playable), left_out)]
        positions, note = _usable(playable, draws, self.counts, copies=self.copies)
        notes.append(note)
        train, valid, test = (self._part(draws, part, positions) for part in range(3))
        return GeneratedDataset(train, valid, test, sources=digests, notes=tuple(notes))

    def _part(self, draws: Draws, part: int, positions: _Positions) -> GeneratedPart:
        labels = draws.balanced(self.counts[part], len(RESULTS), _LABELLED, part)
        in_part = positions.part == part
        pools = [np.flatnonzero(in_part & (positions.result == label)) for label in range(len(RESULTS))]
        for name, pool, images in zip(self.classes, pools, np.bincount(labels, minlength=len(RESULTS)), strict=True):
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
            "result": np.array(RESULTS)[labels],
        }
        return GeneratedPart(planes(positions.masks[indices]), labels, origins)

    def label_of(self, images: Images, origins: Mapping[str, NDArray[Any]]) -> Labels:
        """The labels of the results; −1 where the planes are not a position: a king of each colour, one piece a
        square."""
        labels = positions_in(RESULTS, origins["result"])
        kings = images[:, [5, 11]].sum(axis=(2, 3))
        labels[(kings != 1).any(axis=1) | (images.sum(axis=1) > 1).any(axis=(1, 2))] = -1
        return labels

    def picture(self, image: Images) -> NDArray[np.uint8]:
        return draw_board(image)


class ChesseractWithCopies(Chesseract):
    """The dataset without the search for copies. A game between two of the players is in both their files, so it can be
    in the training and in the test part. It shows the effect on accuracies (docs/baselines.md); do not use it."""

    title = "Chesseract with copies"
    hygiene = ("game",)
    copies = True


@dataclass(frozen=True, slots=True, eq=False)
class _Positions:
    """One row for each position. It holds its planes as masks, the number of its game, and the number of the half move
    before it, from 1. Then come the number of the position, the same in all games, its part and its result."""

    games: tuple[Game, ...]
    masks: Bitboards
    game: Integers
    ply: Integers
    number: Integers
    part: Integers
    result: Integers


def _games(source: Path | None, needs: str) -> tuple[list[Game], dict[str, str]]:
    games: list[Game] = []
    digests: dict[str, str] = {}
    with open_material(source, needs) as folder:
        files = files_ending(folder, ".pgn")
        if missing := [
            player for player in PLAYERS if not any(name.lower().startswith(player.lower()) for name in files)
        ]:
            raise BadFile(
                f"the games of eight players are needed, {source} has no "
                f"{', '.join(f'{player}.pgn' for player in missing)}; add what is missing"
            )
        for name, path in files.items():
            if any(name.lower().startswith(player.lower()) for player in PLAYERS):
                data = content(path)
                games += read_games(name, data)
                digests[name] = sha256(data)
    return games, digests


def _usable(
    playable: list[tuple[Game, Bitboards]], draws: Draws, counts: tuple[int, int, int], *, copies: bool
) -> tuple[_Positions, str]:
    """The positions of all games, each once for a result in its part; without ``copies`` none that is in two parts."""
    games = tuple(game for game, _ in playable)
    sizes = np.array([len(masks) for _, masks in playable])
    results = np.array([RESULTS.index(game.result) for game in games])
    parts = _divided(sizes, results, draws, counts)
    masks = np.concatenate([masks for _, masks in playable])
    game = np.repeat(np.arange(len(games)), sizes)
    ply = np.concatenate([np.arange(len(item.moves) - item.late_positions, len(item.moves)) + 1 for item in games])
    _, first, number = np.unique(masks, axis=0, return_index=True, return_inverse=True)
    number = number.ravel()
    part, result = parts[game], results[game]
    shared = np.zeros(len(first), np.bool_)
    if not copies:
        shared[number[part != part[first][number]]] = True
    first_use = np.zeros(len(masks), np.bool_)
    first_use[np.unique((number * len(RESULTS) + result) * len(PARTS) + part, return_index=True)[1]] = True
    rows = np.flatnonzero(first_use & ~shared[number])
    note = (
        f"Positions: {len(masks)}; left out: {np.count_nonzero(shared[number])} that are in two parts, "
        f"{np.count_nonzero(~first_use & ~shared[number])} that repeat an earlier one with the same result."
    )
    number, part, result = (column[rows] for column in (number, part, result))
    return _Positions(games, masks[rows], game[rows], ply[rows], number, part, result), note


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
