"""Games of chess from PGN files: read lightly, replayed with the ``chess`` package."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, MissingDependency
from nasbed.datasets.source import Progress

RESULTS = ("1-0", "1/2-1/2", "0-1")
PERCENT = 15
SAME = 40
"""Half moves from which on a game that another begins with counts as that other, cut short."""
PLANES = "PNBRQKpnbrqk"
_TAG = re.compile(r'^\[(\w+)\s+"(.*)"\]\s*$')
_ASIDE = re.compile(r"\{[^}]*\}|;[^\n]*|^%[^\n]*|\$\d+|\d+\.+", re.MULTILINE)
_VARIATION = re.compile(r"\([^()]*\)")
_MARKS = str.maketrans("", "", "!?+#")

Bitboards = NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Game:
    """``number`` is its place in its file, from 0; ``moves`` are in standard algebraic notation, without the marks of
    check and mate, which some files leave out."""

    file: str
    number: int
    result: str
    moves: tuple[str, ...]

    def late_plies(self, last: int = PERCENT, skip: int = 0) -> range:
        """The half moves after which positions are used, from 1: of n, the last n·15/100, rounded down.

        ``last`` is another share in per cent, of which the final ``skip`` per cent are left out.

        >>> Game("a", 0, "1-0", ("e4",) * 40).late_plies()
        range(35, 41)
        """
        count = len(self.moves)
        return range(count - count * last // 100 + 1, count - count * skip // 100 + 1)


def read_games(name: str, data: bytes) -> Iterator[Game]:
    """The games of a file. Comments, variations and annotations are passed over.

    PGN is ISO 8859-1 by its standard; moves and results are ASCII in any case.
    """
    lines = data.decode("latin-1").replace("\r\n", "\n").split("\n")
    tags: dict[str, str] = {}
    body: list[str] = []
    number = 0
    for line in [*lines, "[]"]:
        if not line.startswith("["):
            body.append(line)
            continue
        if "".join(body).strip():
            yield _game(name, number, tags, "\n".join(body))
            number += 1
            tags = {}
        body = []
        if tag := _TAG.match(line):
            tags[tag[1]] = tag[2]
    if not number:
        raise BadFile(f"{name} is a PGN file without games; get it again")


def _game(name: str, number: int, tags: Mapping[str, str], body: str) -> Game:
    plain = _ASIDE.sub(" ", body)
    while "(" in plain and plain != (plainer := _VARIATION.sub(" ", plain)):
        plain = plainer
    tokens = plain.translate(_MARKS).split()
    stated = tokens.pop() if tokens and tokens[-1] in (*RESULTS, "*") else "*"
    result = tags.get("Result", stated)
    if result not in RESULTS or stated not in (result, "*") or "FEN" in tags:
        result = "*"
    return Game(name, number, result, tuple(token.replace("0-0-0", "O-O-O").replace("0-0", "O-O") for token in tokens))


def distinct_games(games: Sequence[Game]) -> tuple[list[Game], dict[str, int]]:
    """Each game once, in the order of the files, and how many were left out for which reason.

    Games with the same moves are one game, the first; if their results differ, none is kept. So are a game and a longer
    one that begins with all its moves, from 40 half moves on: the longer one is kept.
    """
    finished, left_out = games_with_result(games)
    games_by_moves: dict[tuple[str, ...], Game] = {}
    doubtful = set()
    for game in finished:
        first = games_by_moves.setdefault(game.moves, game)
        if first.result != game.result:
            doubtful.add(game.moves)
    left_out["of which another copy is kept"] = len(finished) - len(games_by_moves)
    ordered = sorted(games_by_moves)
    cut_short = {a for a, b in pairwise(ordered) if len(a) >= SAME and b[: len(a)] == a}
    left_out["cut short"] = len(cut_short - doubtful)
    left_out["with the same moves as another but another result"] = len(doubtful)
    return [game for moves, game in games_by_moves.items() if moves not in doubtful | cut_short], left_out


def games_with_result(games: Sequence[Game]) -> tuple[list[Game], dict[str, int]]:
    """The games with a result, and how many have none."""
    finished = [game for game in games if game.result != "*"]
    return finished, {"without a result": len(games) - len(finished)}


def replayed(games: Sequence[Game], progress: Progress, *, last: int, skip: int) -> Iterator[Bitboards | None]:
    """For each game its late positions, ``[positions, 12]`` masks of squares; None where a move is not legal.

    Bit 0 of a mask is a1, bit 7 h1, bit 63 h8. Masks are in the order of ``PLANES``.
    """
    chess = chess_package()
    for index, game in enumerate(games):
        yield positions_after(chess, game, game.late_plies(last, skip))
        if index % 100 == 99 or index + 1 == len(games):
            progress("replaying games", index + 1, len(games))


def positions_after(chess: Any, game: Game, plies: range) -> Bitboards | None:
    """The positions after these half moves of a game, as masks; None where a move is not legal."""
    board = chess.Board()
    masks: list[list[int]] = []
    try:
        for ply, move in enumerate(game.moves, start=1):
            board.push_san(move)
            if ply in plies:
                white, black = board.occupied_co[chess.WHITE], board.occupied_co[chess.BLACK]
                kinds = (board.pawns, board.knights, board.bishops, board.rooks, board.queens, board.kings)
                masks.append([*(kind & white for kind in kinds), *(kind & black for kind in kinds)])
    except ValueError:
        return None
    return np.array(masks, np.uint64).reshape(-1, len(PLANES))


def planes(masks: Bitboards) -> NDArray[np.uint8]:
    """``[n, 12, 8, 8]`` of 0 and 1 from masks: row 0 is rank 8, column 0 is file a, as White sees the board."""
    bits = np.unpackbits(masks.astype("<u8")[:, :, None].view(np.uint8), axis=-1, bitorder="little")
    return np.ascontiguousarray(bits.reshape(len(masks), len(PLANES), 8, 8)[:, :, ::-1])


def chess_package() -> ModuleType:
    try:
        import chess
    except ImportError:
        raise MissingDependency("games are replayed with chess; get it with: pip install 'nasbed[unseen]'") from None
    return chess
