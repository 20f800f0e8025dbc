"""The challenge: what an honest submission scores, and what a dishonest or broken one can not do."""

from __future__ import annotations

import io
import json
import os
import pickle
import shutil
import socket
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from uuid import uuid4

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nasbed.challenge import isolation
from nasbed.challenge.isolation import choose_isolation, readable_by_all
from nasbed.challenge.limits import GIB, MIB, Limits
from nasbed.challenge.predictions import checked_predictions, one_line, read_reply
from nasbed.challenge.scoring import score_of
from nasbed.core.errors import BadFile, InvalidOption
from support.submissions import (
    TESTED,
    make_limits,
    processes_with,
    run_on,
    run_submission,
    write_dataset,
    write_submission,
)

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.sandbox


@pytest.fixture
def apart() -> str:
    """Namespaces, for tests of what they keep out."""
    chosen = choose_isolation("auto")
    if chosen.kind != "namespaces":
        pytest.skip(f"needs namespaces, which this system does not give: {'; '.join(chosen.notes)}")
    return chosen.kind


@pytest.fixture(autouse=True)
def _scratch_is_removed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Every test here leaves no scratch folder. They are where another user can get to, too."""
    scratch = Path(tempfile.mkdtemp(prefix="nasbed-tests-"))
    scratch.chmod(0o711)
    monkeypatch.setattr(tempfile, "tempdir", str(scratch))
    yield
    remaining = list(scratch.iterdir())
    shutil.rmtree(scratch)
    assert remaining == []


# ------------------------------------------------------------------ honest ones


@pytest.mark.parametrize(
    ("predict", "raw"),
    [
        pytest.param("return [0] * len(test)", 25.0, marks=pytest.mark.thorough),
        pytest.param("return test[:, 0, 0, 0].astype(int)", 100.0, marks=pytest.mark.thorough),
        pytest.param("return test[:, 0, 0, 0]", 100.0, marks=pytest.mark.thorough),  # with a point, but whole
        ("return test[:, 0, 0, :1].astype('>i2')", 100.0),  # a column, in another byte order
        pytest.param("return [9] * len(test)", 0.0, marks=pytest.mark.thorough),
        pytest.param("return test[:, 0, 0, 0] > 0", 50.0, marks=pytest.mark.thorough),  # 0 and 1
    ],
)
def test_challenge_scores_as_the_formula_says(tmp_path: Path, predict: str, raw: float) -> None:
    result, _ = run_submission(tmp_path, predict=predict, benchmark=60.0)
    assert (result.ended, result.raw) == ("finished", raw)
    assert result.score == pytest.approx(max(-10, (raw - 60) * 10 / 40))
    predictions = np.load(tmp_path / "runs" / "entry" / "secret" / "predictions.npy", allow_pickle=False)
    assert predictions.dtype == np.int64 and predictions.shape == (TESTED,)


@pytest.mark.parametrize(
    "values", [[3.0, 0.0, 9.0], np.array([[3], [0], [9]], ">i2"), np.array([3, 0, 9], np.uint8)], ids=str
)
def test_challenge_numbers_that_are_whole_are_predictions(values: Any) -> None:
    predictions = checked_predictions(saved(values), 3)
    assert predictions.dtype == np.int64 and predictions.tolist() == [3, 0, 9]
    assert checked_predictions(saved([True, False]), 2).tolist() == [1, 0]


def saved(values: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, np.asarray(values))
    return buffer.getvalue()


def test_challenge_score_has_the_published_ends() -> None:
    assert [score_of(raw, 80.0) for raw in (100, 90, 80, 70, 60, 0)] == [10, 5, 0, -5, -10, -10]


def test_challenge_submission_is_given_what_the_kit_gives(tmp_path: Path) -> None:
    processor_init = """
    for each in (train_x, valid_x, test_x):
        assert each.dtype == np.float32 and each.shape[1:] == (1, 8, 8) and each.flags.writeable
    assert train_y.dtype == np.int64 and len(train_y) == 40 and len(test_x) == 20
    assert metadata["num_classes"] == 4 and metadata["input_shape"] == [40, 1, 8, 8]
    assert metadata["codename"] == "secret" and metadata["benchmark"] == 20.0
    assert "seed" not in metadata  # with which a generated dataset could be made again
    assert 0 < metadata["time_remaining"] <= clock.check() + 5 < 70
    metadata["message"] = clock.check()
    """
    trainer_init = "assert metadata['message'] > clock.check() and metadata['time_remaining'] < metadata['message']"
    result, log = run_submission(
        tmp_path, top="import numpy as np", processor_init=processor_init, trainer_init=trainer_init
    )
    assert result.ended == "finished", log


def test_challenge_runs_submissions_of_2022_which_take_no_clock(tmp_path: Path) -> None:
    data = write_dataset(tmp_path / "data")
    entry = write_submission(tmp_path / "entry")
    for path in entry.iterdir():
        path.write_text(path.read_text().replace(", clock)", ")").replace("self.clock = clock", "pass"))
    (result,) = run_on(entry, [data], tmp_path / "runs")
    assert result.raw == 25.0, result.reason


def test_challenge_same_seed_same_chance(tmp_path: Path) -> None:
    predict = (
        "import random, numpy\nreturn [random.randrange(4) for _ in test[:10]] + list(numpy.random.randint(4, size=10))"
    )
    records = []
    for name, seed in (("a", 1), ("b", 1), ("c", 2)):
        data = write_dataset(tmp_path / name / "data")
        entry = write_submission(tmp_path / name / "entry", predict=predict)
        run_on(entry, [data], tmp_path / name / "runs", seed=seed)
        records.append(np.load(tmp_path / name / "runs" / "entry" / "data" / "predictions.npy").tolist())
    assert records[0] == records[1] != records[2]


def test_challenge_reference_submission_learns(tmp_path: Path) -> None:
    pytest.importorskip("torch")
    data = write_dataset(tmp_path / "columns", images=100)
    for part in ("train", "valid", "test"):  # the label is the column that is bright
        labels = np.load(data / f"{part}_y.npy")
        images = np.zeros((len(labels), 3, 8, 10), np.float32)
        for image, label in zip(images, labels, strict=True):
            image[:, :, 2 * label] = 1 + label
        np.save(data / f"{part}_x.npy", images)
    (data / "metadata").write_text(
        json.dumps({"num_classes": 4, "input_shape": [100, 3, 8, 10], "codename": "c", "benchmark": 50.0})
    )
    (result,) = run_on(
        ROOT / "examples" / "submission",
        [data],
        tmp_path / "runs",
        limits=Limits(time_s=300, memory_bytes=4 * GIB),
        disguise="full",
    )
    assert result.ended == "finished", result.reason
    assert result.raw is not None and result.raw > 90 and result.score > 8
    assert result.parameters and result.parameters > 500 and result.peak_memory_bytes > 50 * MIB


# ------------------------------------------------------------------ broken ones


@pytest.mark.parametrize(
    ("where", "stage"),
    [
        ("top", "importing data_processor"),
        pytest.param("processor_init", "DataProcessor", marks=pytest.mark.thorough),
        pytest.param("process", "DataProcessor.process", marks=pytest.mark.thorough),
        pytest.param("search_init", "NAS", marks=pytest.mark.thorough),
        pytest.param("search", "NAS.search", marks=pytest.mark.thorough),
        pytest.param("trainer_init", "Trainer", marks=pytest.mark.thorough),
        pytest.param("train", "Trainer.train", marks=pytest.mark.thorough),
        ("predict", "Trainer.predict"),
    ],
)
def test_challenge_crash_scores_the_least_and_says_where(tmp_path: Path, where: str, stage: str) -> None:
    parts: Any = {where: "raise RuntimeError('broken\\nhere')"}
    result, log = run_submission(tmp_path, **parts)
    assert (result.ended, result.score, result.raw) == ("crash", -10, None)
    assert result.reason == f"RuntimeError: broken here, at {stage}"
    assert "Traceback" in log and "RuntimeError: broken" in log


@pytest.mark.parametrize(
    ("predict", "word"),
    [
        pytest.param("return [0] * (len(test) + 1)", "shape (21,)", marks=pytest.mark.thorough),
        ("return None", "allow_pickle"),
    ],
)
def test_challenge_wrong_predictions_fail_with_the_reason(tmp_path: Path, predict: str, word: str) -> None:
    result, _ = run_submission(tmp_path, predict=predict)
    assert result.score == -10 and result.ended in ("predictions", "crash")
    assert word in result.reason
    assert not (tmp_path / "runs" / "entry" / "secret" / "predictions.npy").exists()


@pytest.mark.parametrize(
    ("values", "word"),
    [
        ([0] * 21, r"shape \(21,\)"),
        ([0] * 19, r"shape \(19,\)"),
        ([[0, 1]] * 20, r"shape \(20, 2\)"),
        (3, r"shape \(\)"),
        ([float("nan")] * 20, "not finite"),
        ([0.5] * 20, "not whole"),
        (["0"] * 20, "array of"),
        ([2**62] * 20, "larger than any"),
    ],
)
def test_challenge_wrong_predictions_are_refused(values: Any, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        checked_predictions(saved(values), 20)


@pytest.mark.parametrize(
    "attribute",
    [
        "drop_last = True",
        pytest.param("sampler = type('RandomSampler', (), {})()", marks=pytest.mark.thorough),
    ],
)
def test_challenge_test_loader_keeps_all_images_in_order(tmp_path: Path, attribute: str) -> None:
    process = f"class Loader:\n    {attribute}\nreturn self.train_x, self.valid_x, Loader()"
    result, _ = run_submission(tmp_path, process=process)
    assert result.ended == "crash" and "the test loader" in result.reason


def test_challenge_leaving_without_a_result_is_a_failure(tmp_path: Path) -> None:
    result, _ = run_submission(tmp_path / "a", train="import os; os._exit(0)")
    assert (result.ended, result.score) == ("nothing", -10)
    assert result.reason == "it ended without predictions, exit status 0, at Trainer.train"
    result, _ = run_submission(tmp_path / "b", train="import sys; sys.exit(0)")
    assert (result.ended, result.reason) == ("crash", "SystemExit: 0, at Trainer.train")
    result, _ = run_submission(tmp_path / "c", train="import os; os.kill(os.getpid(), 11)")
    assert "killed by signal 11" in result.reason


def test_challenge_threads_that_exit_or_stay_do_no_harm(tmp_path: Path) -> None:
    train = """
    import sys, threading, time
    threading.Thread(target=sys.exit).start()
    threading.Thread(target=time.sleep, args=(1000,)).start()
    """
    result, _ = run_submission(tmp_path, train=train)
    assert (result.ended, result.raw) == ("finished", 25.0)


def test_challenge_continues_with_the_next_dataset_and_runs_nothing_twice(tmp_path: Path) -> None:
    datasets = [write_dataset(tmp_path / name) for name in ("one", "two")]
    entry = write_submission(tmp_path / "entry", processor_init="assert metadata['codename'] == 'two'")
    runs = tmp_path / "runs"
    started: list[str] = []
    first = run_on(entry, datasets, runs, on_start=started.append)
    assert [result.ended for result in first] == ["crash", "finished"] and started == ["one", "two"]
    repeated = run_on(entry, datasets, runs, on_start=started.append)
    assert repeated == first and started == ["one", "two"]
    shutil.rmtree(runs / "entry" / "one")  # as if it had been interrupted before
    assert run_on(entry, datasets, runs, on_start=started.append)[1] == first[1]
    assert started == ["one", "two", "one"]
    with pytest.raises(InvalidOption, match="other seed"):
        run_on(entry, datasets, runs, seed=1)
    (entry / "helpers.py").write_text("changed = True")
    with pytest.raises(InvalidOption, match="other submission"):
        run_on(entry, datasets, runs)
    assert sorted(path.name for path in (runs / "entry").iterdir()) == ["one", "two"]


# ------------------------------------------------------------------ greedy ones


@pytest.mark.parametrize("kind", ["auto", pytest.param("none", marks=pytest.mark.thorough)])
def test_challenge_hang_is_ended_with_all_descendants(tmp_path: Path, kind: str) -> None:
    token = f"token{uuid4().hex}"
    train = f"""
    import subprocess, sys, time
    wait = [sys.executable, "-c", "import time; time.sleep(1000)", "{token}"]
    subprocess.Popen(wait)
    subprocess.Popen(wait, start_new_session=True)
    orphan = f"import subprocess; subprocess.Popen({{wait!r}}, start_new_session=True)"
    subprocess.run([sys.executable, "-c", orphan, "{token}"])
    while True:
        time.sleep(1)
    """
    result, _ = run_submission(tmp_path, isolation=kind, limits=make_limits(time_s=3), train=train)
    assert (result.ended, result.score) == ("time", -10) and "more than 3 s" in result.reason
    assert result.seconds >= 3
    assert processes_with(token) == []


@pytest.mark.parametrize("kind", [pytest.param("auto", marks=pytest.mark.thorough), "none"])
def test_challenge_leaves_no_process_behind_after_a_good_end(tmp_path: Path, kind: str) -> None:
    token = f"token{uuid4().hex}"
    train = f"""
    import subprocess, sys
    subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)", "{token}"], start_new_session=True)
    """
    result, _ = run_submission(tmp_path, isolation=kind, train=train)
    assert result.ended == "finished"
    assert processes_with(token) == []


@pytest.mark.parametrize("kind", ["auto", "none"])
def test_challenge_memory_of_one_process_is_bounded(tmp_path: Path, kind: str) -> None:
    train = "import numpy as np\nkept = [np.ones(2**23) for _ in range(100)]"  # 64 MiB each
    result, _ = run_submission(tmp_path, isolation=kind, limits=make_limits(memory_mib=256), train=train)
    assert (result.ended, result.score) == ("memory", -10), result.reason


def test_challenge_memory_is_that_of_all_processes(tmp_path: Path) -> None:
    train = """
    import os, time
    for _ in range(6):
        if os.fork() == 0:
            held = bytearray(os.urandom(1)) * (150 * 2**20)
            time.sleep(1000)
    time.sleep(1000)
    """
    result, _ = run_submission(tmp_path, limits=make_limits(memory_mib=512), train=train)
    assert (result.ended, result.score) == ("memory", -10)
    assert "0.5 GiB" in result.reason and result.peak_memory_bytes > 512 * MIB


def test_challenge_processes_are_bounded(tmp_path: Path) -> None:
    train = """
    import os, time
    count = 0
    while True:
        if os.fork() == 0:
            time.sleep(1000)
            os._exit(0)
        count += 1
        assert count < 1000, "no limit"
    """
    result, _ = run_submission(tmp_path, limits=make_limits(processes=50), train=train)
    assert result.score == -10 and result.ended in ("crash", "processes")
    assert "Resource temporarily unavailable" in result.reason or "more than 50 processes" in result.reason


def test_challenge_files_are_bounded(tmp_path: Path) -> None:
    train = """
    for number in range(100):
        with open(f"large{number}", "wb") as file:
            file.write(b"x" * 10 * 2**20)
    import time
    time.sleep(1000)
    """
    result, _ = run_submission(tmp_path, train=train)
    assert result.score == -10 and result.ended in ("crash", "scratch")
    assert "No space left" in result.reason or "written" in result.reason


def test_challenge_endless_output_leaves_a_small_log(tmp_path: Path) -> None:
    printed = "print('first words')\nfor _ in range(2_000): print('x' * 1000)\nprint('last words')"
    result, log = run_submission(tmp_path / "much", limits=make_limits(log_bytes=10_000), train=printed)
    assert result.ended == "finished" and len(log) < 11_000
    assert log.startswith("first words") and "bytes left out" in log and log.endswith("last words\n")
    result, log = run_submission(
        tmp_path / "endless", limits=make_limits(time_s=0.5, log_bytes=10_000), train="while True: print('x' * 1000)"
    )
    assert (result.ended, result.score) == ("time", -10) and len(log) < 11_000


# ------------------------------------------------------------------ dishonest ones

SENT_BY = "import os, json\nfd = next(fd for fd in range(3, 1024) if is_pipe(fd))\n"
IS_PIPE = """
import os, stat
def is_pipe(fd):
    try:
        return stat.S_ISFIFO(os.fstat(fd).st_mode)
    except OSError:
        return False
"""


class Bomb:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_challenge_never_unpickles_what_was_sent(tmp_path: Path) -> None:
    marker = tmp_path / "unpickled"
    bombs = np.empty(TESTED, object)
    bombs[:] = [Bomb(marker) for _ in range(TESTED)]
    buffer = io.BytesIO()
    np.save(buffer, bombs, allow_pickle=True)
    for number, content in enumerate((buffer.getvalue(), pickle.dumps(Bomb(marker)))):
        predict = (
            f"{SENT_BY}content = {content!r}\n"
            "os.write(fd, json.dumps({'predictions': len(content)}).encode() + b'\\n' + content)\nos._exit(0)"
        )
        result, _ = run_submission(tmp_path / str(number), predict=IS_PIPE + predict)
        assert (result.ended, result.score) == ("predictions", -10), result.reason
    assert not marker.exists()


def test_challenge_too_much_sent_is_a_failure(tmp_path: Path) -> None:
    predict = f"{IS_PIPE}{SENT_BY}while True: os.write(fd, b'x' * 4096)"
    result, _ = run_submission(tmp_path, predict=predict)
    assert (result.ended, result.score) == ("output", -10)


def test_challenge_labels_cannot_be_found(tmp_path: Path, apart: str) -> None:
    """Not by their name anywhere on the disk, not by their path, not through the processes outside."""
    labels = tmp_path / "data" / "secret" / "test_y.npy"
    skipped = ["/proc", "/sys", "/usr", *{str(Path(prefix).resolve()) for prefix in (sys.prefix, sys.base_prefix)}]
    train = f"""
    import os
    found = []
    for folder, folders, names in os.walk("/"):
        folders[:] = [name for name in folders if os.path.join(folder, name) not in {skipped!r}]
        found += [os.path.join(folder, name) for name in names if name.startswith("test_y.") or "_origins" in name]
    for path in ({str(labels)!r}, {str(labels.parent)!r}, {str(tmp_path)!r}, "/proc/{os.getpid()}", "/proc/{os.getppid()}",
                 "/proc/{os.getpid()}/root" + {str(labels)!r}, "/proc/1/root" + {str(labels)!r},
                 "/proc/1/cwd/../../.." + {str(labels)!r}, "/.." + {str(labels)!r}):
        found += [path] if os.path.lexists(path) else []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            aims = []
            for fd in os.listdir(f"/proc/{{number}}/fd"):
                path = f"/proc/{{number}}/fd/{{fd}}"
                aims += [os.readlink(path)] if os.path.lexists(path) else []
            found += [aim for aim in aims if "test_" in aim or "train_" in aim]
        except PermissionError:
            pass
    for descriptor in range(3, 256):
        try:
            os.fchdir(descriptor)
            found.append(os.getcwd())
        except OSError:
            pass
    print("FOUND", found)
    """
    result, log = run_submission(tmp_path, train=train)
    assert result.ended == "finished" and result.isolation == apart
    assert "FOUND []" in log, log


def test_challenge_data_in_a_shown_folder_are_covered(
    apart: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Somebody keeps datasets beside the packages."""
    visible = [*isolation.visible_paths(), str(tmp_path)]
    monkeypatch.setattr(isolation, "visible_paths", lambda: visible)
    tmp_path.chmod(0o755)
    data = tmp_path / "data" / "secret"
    train = f"""
    import os, subprocess
    print("FOUND", sorted(os.listdir({str(tmp_path)!r}))[:2], os.listdir({str(data)!r}), os.listdir({str(tmp_path / "entry")!r}))
    own = ["unshare", "-Urm", "sh", "-c", "umount -l {data}; umount -l {data}; ls {data}"]
    print("BELOW", subprocess.run(own, capture_output=True, text=True).stdout)
    """
    _, log = run_submission(tmp_path, train=train)
    assert "FOUND ['data', 'entry'] [] []" in log, log
    assert "BELOW" in log and "test_" not in log, log


def test_challenge_nothing_outside_can_be_written(tmp_path: Path, apart: str) -> None:
    inner = Path(tempfile.gettempdir())
    targets = [str(tmp_path / "data" / "secret" / "mark"), "/usr/mark", "/etc/mark", "/mark", str(Path.home() / "mark")]
    targets += [str(ROOT / "src" / "nasbed" / "mark"), str(inner / "mark"), "/var/tmp/mark"]
    train = f"""
    import os
    written = []
    for path in {targets!r}:
        try:
            open(path, "w").close()
            written.append(path)
        except OSError:
            pass
    open("/tmp/mark-of-a-submission", "w").close()  # its own
    open("mark", "w").close()
    print("WRITTEN", written)
    """
    result, log = run_submission(tmp_path, train=train)
    assert result.ended == "finished" and "WRITTEN []" in log, log
    assert not any(Path(path).exists() for path in (*targets, "/tmp/mark-of-a-submission"))
    assert not (tmp_path / "entry" / "mark").exists()


def test_challenge_has_no_network_nor_rights(tmp_path: Path, apart: str) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        train = f"""
        import socket, os, ctypes
        try:
            socket.create_connection(("127.0.0.1", {server.getsockname()[1]}), 2)
            print("REACHED")
        except OSError as error:
            print("REFUSED", error)
        status = open("/proc/self/status").read()
        assert "CapEff:\\t0000000000000000" in status and "NoNewPrivs:\\t1" in status
        assert os.getuid() != 0
        assert ctypes.CDLL(None).mount(b"none", b"/tmp", b"tmpfs", 0, None) == -1
        assert ctypes.CDLL(None).umount(b"/usr") == -1
        try:
            os.kill({os.getpid()}, 0)
            print("REACHED")
        except ProcessLookupError:
            pass
        """
        result, log = run_submission(tmp_path, train=train)
    assert result.ended == "finished", result.reason
    assert "REFUSED" in log and "REACHED" not in log


@pytest.mark.parametrize("kind", [pytest.param("auto", marks=pytest.mark.thorough), "none"])
def test_challenge_neither_open_files_nor_the_environment_tell_where_the_data_are(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_PASSWORD", "hunter2")
    train = """
    import os
    print(dict(os.environ), os.getcwd())
    for number in (os.getpid(), os.getppid()):
        try:
            for fd in os.listdir(f"/proc/{number}/fd"):
                path = f"/proc/{number}/fd/{fd}"
                print(os.readlink(path) if os.path.lexists(path) else "gone")
            print(open(f"/proc/{number}/cmdline").read(), open(f"/proc/{number}/environ").read())
        except PermissionError:
            pass
    print("SEEN")
    """
    result, log = run_submission(tmp_path, isolation=kind, train=train)
    assert result.ended == "finished" and "SEEN" in log and "'HOME'" in log
    assert (result.isolation == "none") == (kind == "none" or choose_isolation("auto").kind == "none")
    assert "train_x" not in log and "hunter2" not in log and str(tmp_path) not in log, log


def test_challenge_refuses_an_unknown_isolation() -> None:
    with pytest.raises(InvalidOption, match="namespaces, user, none"):
        choose_isolation("prison")


def test_challenge_takes_the_safest_that_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(isolation, "_users", lambda kind: [None])
    for works, notes in (("namespaces", 0), ("user", 1), ("none", 2)):
        monkeypatch.setattr(isolation, "_problem", lambda kind, _, works=works: "" if kind == works else "forbidden")
        chosen = choose_isolation("auto")
        assert chosen.kind == works and list(chosen.notes) == [
            f"no {kind}: forbidden" for kind in isolation.KINDS[:notes]
        ]
    with pytest.raises(InvalidOption, match="by user does not work here, no user: forbidden"):
        choose_isolation("user")


def test_challenge_labels_that_all_can_read_are_noted(tmp_path: Path) -> None:
    labels = write_dataset(tmp_path / "data") / "test_y.npy"
    for path in tmp_path.parents:
        if not path.stat().st_mode & 0o001:
            break
    else:
        tmp_path.chmod(0o755)
        assert "chmod o=" in readable_by_all([labels])
    (tmp_path / "data").chmod(0o700)
    assert readable_by_all([labels]) == ""


# ------------------------------------------------------------------ what comes in


def test_challenge_takes_archives_and_refuses_incomplete_submissions(tmp_path: Path) -> None:
    data = write_dataset(tmp_path / "data")
    entry = write_submission(tmp_path / "entry")
    with zipfile.ZipFile(tmp_path / "team-7.zip", "w") as archive:
        for path in entry.iterdir():
            archive.write(path, path.name)
    (result,) = run_on(tmp_path / "team-7.zip", [data], tmp_path / "runs")
    assert (result.submission, result.raw) == ("team-7", 25.0)
    assert sorted(path.name for path in (tmp_path / "runs").iterdir()) == ["organiser.key", "team-7"]
    (entry / "link").symlink_to(data / "test_y.npy")
    with pytest.raises(InvalidOption, match="files and folders only, link"):
        run_on(entry, [data], tmp_path / "runs")
    (entry / "link").unlink()
    (entry / "nas.py").unlink()
    with pytest.raises(InvalidOption, match=r"lacks nas\.py"):
        run_on(entry, [data], tmp_path / "runs")


def test_challenge_broken_datasets_are_no_submissions_fault(tmp_path: Path) -> None:
    entry = write_submission(tmp_path / "entry")
    spoilt: list[tuple[Callable[[Path], object], str]] = [
        (lambda folder: (folder / "test_y.npy").unlink(), r"lacks test_y\.npy"),
        (lambda folder: (folder / "metadata").write_text("[]"), "JSON object"),
        (lambda folder: (folder / "metadata").write_text('{"num_classes": 4, "benchmark": 100}'), "below 100"),
        (lambda folder: (folder / "metadata").write_text('{"benchmark": 50}'), "num_classes"),
        (lambda folder: (folder / "metadata").write_text('{"num_classes": 3, "benchmark": 50}'), "from 0 to 2"),
        (lambda folder: np.save(folder / "test_y.npy", np.zeros(3)), "each image has a label"),
        (lambda folder: (folder / "valid_x.npy").write_bytes(b"no"), "array of numbers"),
    ]
    for number, (spoil, word) in enumerate(spoilt):
        data = write_dataset(tmp_path / str(number) / "data")
        spoil(data)
        with pytest.raises(BadFile, match=word):
            run_on(entry, [data], tmp_path / "runs")
    good = write_dataset(tmp_path / "data")
    with pytest.raises(InvalidOption, match="different names"):
        run_on(entry, [good, good], tmp_path / "runs")
    assert not (tmp_path / "runs").exists()


@given(st.binary(max_size=300))
def test_challenge_any_bytes_are_read_without_harm(sent: bytes) -> None:
    reply = read_reply(sent)
    assert len(reply.error) <= 300 and one_line(reply.stage) == reply.stage
    for content in (sent, b"\x93NUMPY\x01\x00" + sent):
        with pytest.raises(ValueError, match="predictions are"):
            checked_predictions(content, 5)


@pytest.mark.parametrize("shape", ["(10**12,)", "(-1,)", "(5, 10**9)", "(10**30,)", "('a',)", "()"])
def test_challenge_claimed_sizes_take_no_memory(shape: str) -> None:
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(40)
    with pytest.raises(ValueError, match="predictions are"):
        checked_predictions(content, 5)
