"""Chesseract: every position replayed from its game with the chess package's own reader."""

from __future__ import annotations

import gzip
import io
import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from nasbed.core.errors import BadFile, InvalidOption, MissingDependency
from nasbed.datasets.unseen.chesseract import Chesseract, ChesseractWithCopies
from nasbed.datasets.unseen.families.chess_board import draw_board
from nasbed.datasets.unseen.families.chess_positions import PLAYERS
from nasbed.datasets.unseen.sources.chess_games import Game, distinct_games, planes, positions_after, read_games
from nasbed.datasets.unseen.sources.material import content

chess = pytest.importorskip("chess")
pgn = pytest.importorskip("chess.pgn")

RESULTS = ("1-0", "1/2-1/2", "0-1")


class SmallChesseract(Chesseract):
    preset: ClassVar = {"train": 120, "valid": 31, "test": 30}


class SmallWithCopies(ChesseractWithCopies):
    preset: ClassVar = SmallChesseract.preset


def quiet(step: str, count: int, total: int | None) -> None:
    pass


def some_game(rng: random.Random) -> Any:
    """A legal game of 40 to 70 half moves, or fewer if it is over, with a result of any kind."""
    game = pgn.Game()
    game.headers["Result"] = rng.choice(RESULTS)
    node, board = game, chess.Board()
    for _ in range(rng.randrange(40, 70)):
        moves = list(board.legal_moves)
        if not moves:
            break
        move = rng.choice(moves)
        node = node.add_variation(move)
        board.push(move)
    return game


def annotated(game: Any) -> Any:
    """With a comment, an annotation and a variation inside a variation."""
    third = game.next().next()
    third.comment = "a comment (odd)"
    third.nags.add(3)
    aside = third.add_variation(next(move for move in third.board().legal_moves if move != third.next().move))
    for _ in range(2):
        aside.add_variation(next(move for move in aside.board().legal_moves if not aside.has_variation(move)))
    return game


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Eight files: one game is in two, one is cut short in another, one has no result, one cannot be played."""
    where = tmp_path_factory.mktemp("games")
    rng = random.Random(0)
    twice = str(some_game(rng))
    for number, player in enumerate(PLAYERS):
        games = [str(some_game(rng)) for _ in range(8)]
        if number in (1, 6):
            games.append(twice)
        if number == 2:
            games[0] = '[Result "*"]\n\n1. e4 e5 *'
            games[1] = '[Result "1-0"]\n\n1. e4 e5 2. Ke4 d6 3. d4 d5 4. c4 c5 1-0'
            games[2] = str(annotated(some_game(rng)))
        written = "\n\n".join(games) + "\n"
        if number == 3:
            (where / f"{player}.pgn").write_bytes(written.replace("\n", "\r\n").encode())
        elif number == 4:
            (where / f"{player}.pgn.gz").write_bytes(gzip.compress(written.encode()))
        else:
            (where / f"{player}.pgn").write_text(written)
    (where / "Others.pgn").write_text("not read")
    return where


def games_of(folder: Path) -> dict[tuple[str, int], Any]:
    """All games as the chess package reads them, by their file and place."""
    digests = {}
    for player in PLAYERS:
        path = next(folder.glob(f"{player}.pgn*"))
        file = io.StringIO(content(path).decode().replace("\r\n", "\n"))
        number = 0
        while (game := pgn.read_game(file)) is not None:
            digests[f"{player}.pgn", number] = game
            number += 1
    return digests


def symbols(image: NDArray[np.uint8]) -> dict[int, str]:
    """The pieces of an image by their square, counted from a1 to h8."""
    digests = {}
    for plane, symbol in enumerate("PNBRQKpnbrqk"):
        for row, column in np.argwhere(image[plane]).tolist():
            square = (7 - row) * 8 + column
            assert square not in digests
            digests[square] = symbol
    return digests


def test_positions_are_late_ones_of_their_games(folder: Path) -> None:
    dataset = SmallChesseract().make(folder, seed=0, progress=quiet)
    SmallChesseract().check(dataset)
    games = games_of(folder)
    lines: dict[str, set[tuple[Any, ...]]] = {}
    for name, part in dataset.parts.items():
        lines[name] = set()
        assert part.images.shape[1:] == (12, 8, 8)
        for row, image in enumerate(part.images):
            game = games[str(part.origins["pgn"][row]), int(part.origins["number"][row])]
            moves = list(game.mainline_moves())
            ply = int(part.origins["ply"][row])
            assert len(moves) - len(moves) * 15 // 100 < ply <= len(moves)
            board = chess.Board()
            for move in moves[:ply]:
                board.push(move)
            assert symbols(image) == {square: piece.symbol() for square, piece in board.piece_map().items()}
            assert RESULTS[part.labels[row]] == game.headers["Result"]
            lines[name].add(tuple(moves))
    assert not lines["train"] & lines["valid"] | lines["train"] & lines["test"] | lines["valid"] & lines["test"]


def test_no_image_is_in_two_parts_and_results_are_balanced(folder: Path) -> None:
    dataset = SmallChesseract().make(folder, seed=0, progress=quiet)
    images = [{image.tobytes() for image in part.images} for part in dataset.parts.values()]
    assert len(set.union(*images)) == sum(map(len, images))
    assert [np.bincount(part.labels).tolist() for part in dataset.parts.values()] == [[40] * 3, [11, 10, 10], [10] * 3]


def test_what_is_left_out_is_reported(folder: Path) -> None:
    dataset = SmallChesseract().make(folder, seed=0, progress=quiet)
    assert dataset.notes[0] == (
        "Games: 66 read, 63 used; left out: 1 without a result, 1 of which another copy is kept, "
        "1 that cannot be replayed."
    )


def test_copies_are_games_of_their_own_where_that_is_wanted(folder: Path) -> None:
    """One game is in two files."""
    plain, copied = (kind().make(folder, seed=0, progress=quiet) for kind in (SmallChesseract, SmallWithCopies))
    SmallWithCopies().check(copied)
    notes = [dataset.notes[0] for dataset in (plain, copied)]
    assert "1 of which another copy is kept" in notes[0] and "copy" not in notes[1]
    used = [int(note.split(" used")[0].split()[-1]) for note in notes]
    assert used[1] == used[0] + 1


def test_same_seed_same_bytes(folder: Path) -> None:
    first, repeated, other_seed = (SmallChesseract().make(folder, seed=seed, progress=quiet) for seed in (0, 0, 1))
    for name, part in first.parts.items():
        assert part.images.tobytes() == repeated.parts[name].images.tobytes()
        assert part.labels.tobytes() == repeated.parts[name].labels.tobytes()
        assert part.images.tobytes() != other_seed.parts[name].images.tobytes()


def test_a_game_cut_short_is_the_longer_one_and_a_doubtful_one_is_dropped() -> None:
    moves = tuple(f"move {number}" for number in range(60))
    games = [
        Game("a", 0, "1-0", moves[:45]),
        Game("a", 1, "1-0", moves),
        Game("a", 2, "0-1", moves[:10]),
        Game("b", 0, "0-1", ("x",) * 50),
        Game("b", 1, "1-0", ("x",) * 50),
    ]
    distinct, left_out = distinct_games(games)
    assert [(game.file, game.number) for game in distinct] == [("a", 1), ("a", 2)]
    assert left_out["cut short"] == 1
    assert left_out["with the same moves as another but another result"] == 1


def test_the_first_move_as_planes() -> None:
    game = Game("a", 0, "1-0", ("e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "O-O"))
    masks = positions_after(chess, game, game.late_plies())
    assert masks is not None and masks.shape == (1, 12)
    image = planes(masks)[0]
    assert image.sum(axis=(1, 2)).tolist() == [8, 2, 2, 2, 1, 1] * 2
    assert image[0, 4, 4] == 1  # the pawn on e4
    assert image[5, 7, 6] == 1  # White's king on g1
    assert image[11, 0, 4] == 1  # Black's on e8
    assert image[7, 2, 2] == 1  # the knight on c6


def test_the_board_is_drawn_as_white_sees_it() -> None:
    image = np.zeros((12, 8, 8), np.uint8)
    image[5, 7, 4] = image[11, 0, 4] = 1
    picture = draw_board(image)
    assert picture.shape == (160, 160, 3)
    empty = draw_board(np.zeros((12, 8, 8), np.uint8))
    assert empty[150, 10].tolist() == [181, 136, 99]  # a1 is dark
    changed = np.argwhere((picture != empty).any(axis=2))
    assert {tuple(corner) for corner in (changed // 20).tolist()} == {(7, 4), (0, 4)}
    white = (picture[140:, 80:100] == 255).all(axis=2).sum()
    black = (picture[:20, 80:100] == 0).all(axis=2).sum()
    assert white == black > 0


def test_missing_and_damaged_files_are_named(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InvalidOption, match="--source: a folder of PGN files"):
        SmallChesseract().make(None, seed=0, progress=quiet)
    for path in folder.iterdir():
        if path.stem != "Tal":
            (tmp_path / path.name).write_bytes(path.read_bytes())
    with pytest.raises(BadFile, match=r"has no Tal\.pgn; add what is missing"):
        SmallChesseract().make(tmp_path, seed=0, progress=quiet)
    (tmp_path / "Tal.pgn").write_text("\n")
    with pytest.raises(BadFile, match=r"Tal\.pgn is a PGN file without games"):
        SmallChesseract().make(tmp_path, seed=0, progress=quiet)
    (tmp_path / "Tal.pgn").unlink()
    (tmp_path / "Tal.pgn.gz").write_bytes(gzip.compress(b"x" * 100)[:-6])
    with pytest.raises(BadFile, match=r"Tal\.pgn\.gz cannot be read"):
        SmallChesseract().make(tmp_path, seed=0, progress=quiet)
    with pytest.raises(BadFile, match=r"'White wins' has \d+ of 16666 for train; add games"):
        Chesseract().make(folder, seed=0, progress=quiet)
    monkeypatch.setitem(sys.modules, "chess", None)
    with pytest.raises(MissingDependency, match=r"pip install 'nasbed\[unseen\]'"):
        SmallChesseract().make(folder, seed=0, progress=quiet)


def test_published_games_are_read_as_the_chess_package_reads_them(published_data: Callable[[str], Path]) -> None:
    path = published_data("pgn/Fischer.pgn.gz")
    games = list(read_games("Fischer.pgn", content(path)))
    with gzip.open(path, "rt", encoding="latin-1") as file:
        for game in games[:60]:
            published_game = pgn.read_game(file)
            board = published_game.board()
            moves = []
            for move in published_game.mainline_moves():
                moves.append(board.san(move).rstrip("+#"))
                board.push(move)
            assert (game.moves, game.result) == (tuple(moves), published_game.headers["Result"])
            masks = positions_after(chess, game, game.late_plies())
            assert masks is not None and len(masks) == len(moves) * 15 // 100
            if len(masks):
                assert symbols(planes(masks)[-1]) == {at: piece.symbol() for at, piece in board.piece_map().items()}
