"""Unchanged scripts, written for the published packages, run on nasbed's tables."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from nasbed.compat import install
from nasbed.core.errors import DuplicateName, UnknownName
from support.forks import fork_script
from support.published_tables import write_nats, write_nb101

NASBENCH_SCRIPT = '''
"""Random search, then regularized evolution, by time budget: in the style of the published example."""
import copy
import random
import sys

import numpy as np
from nasbench import api
from nasbench.lib import model_spec as _model_spec

INPUT, OUTPUT = "input", "output"
CONV3X3, CONV1X1, MAXPOOL3X3 = "conv3x3-bn-relu", "conv1x1-bn-relu", "maxpool3x3"
NUM_VERTICES = 4
MAX_EDGES = 9
EDGE_SPOTS = NUM_VERTICES * (NUM_VERTICES - 1) / 2
OP_SPOTS = NUM_VERTICES - 2
ALLOWED_OPS = [CONV3X3, CONV1X1, MAXPOOL3X3]

assert _model_spec.ModelSpec is api.ModelSpec
nasbench = api.NASBench(sys.argv[1], seed=int(sys.argv[2]))
assert nasbench.config["available_ops"] == ALLOWED_OPS
random.seed(int(sys.argv[2]))
np.random.seed(int(sys.argv[2]))


def random_spec():
    while True:
        matrix = np.random.choice([0, 1], size=(NUM_VERTICES, NUM_VERTICES))
        matrix = np.triu(matrix, 1)
        ops = np.random.choice(ALLOWED_OPS, size=(NUM_VERTICES)).tolist()
        ops[0], ops[-1] = INPUT, OUTPUT
        spec = api.ModelSpec(matrix=matrix, ops=ops)
        if nasbench.is_valid(spec):
            return spec


def mutate_spec(old_spec, mutation_rate=1.0):
    while True:
        new_matrix = copy.deepcopy(old_spec.original_matrix)
        new_ops = copy.deepcopy(old_spec.original_ops)
        for src in range(0, NUM_VERTICES - 1):
            for dst in range(src + 1, NUM_VERTICES):
                if random.random() < mutation_rate / EDGE_SPOTS:
                    new_matrix[src, dst] = 1 - new_matrix[src, dst]
        for ind in range(1, NUM_VERTICES - 1):
            if random.random() < mutation_rate / OP_SPOTS:
                available = [o for o in nasbench.config["available_ops"] if o != new_ops[ind]]
                new_ops[ind] = random.choice(available)
        new_spec = api.ModelSpec(new_matrix, new_ops)
        if nasbench.is_valid(new_spec):
            return new_spec


def random_search(max_time_budget):
    nasbench.reset_budget_counters()
    times, best_valids = [0.0], [0.0]
    while True:
        data = nasbench.query(random_spec())
        best_valids.append(max(best_valids[-1], data["validation_accuracy"]))
        time_spent, _ = nasbench.get_budget_counters()
        times.append(time_spent)
        if time_spent > max_time_budget:
            return times, best_valids


def evolution(max_time_budget, population_size=10, tournament_size=4):
    nasbench.reset_budget_counters()
    times, best_valids = [0.0], [0.0]
    population = []
    for _ in range(population_size):
        spec = random_spec()
        population.append((nasbench.query(spec)["validation_accuracy"], spec))
    while True:
        sample = random.sample(population, tournament_size)
        best_spec = sorted(sample, key=lambda i: i[0])[-1][1]
        new_spec = mutate_spec(best_spec)
        data = nasbench.query(new_spec)
        population.append((data["validation_accuracy"], new_spec))
        population.pop(0)
        best_valids.append(max(best_valids[-1], data["validation_accuracy"]))
        time_spent, epochs = nasbench.get_budget_counters()
        times.append(time_spent)
        if time_spent > max_time_budget:
            return times, best_valids


for search in (random_search, evolution):
    times, valids = search(50000.0)
    print(search.__name__, len(times), times[-1], valids[-1])
try:
    nasbench.query(api.ModelSpec(np.zeros((3, 3), dtype=int), [INPUT, CONV3X3, OUTPUT]))
except api.OutOfDomainError as error:
    print("out of domain")
'''

NATS_SCRIPT = """
import random
import sys

from nats_bench import create

api = create(sys.argv[1], "tss", fast_mode=True, verbose=False)
random.seed(3)
api.reset_time()
best_arch, best_acc = None, -1
while api.used_time < 2000:
    arch = api.arch(random.randint(0, len(api) - 1))
    accuracy, latency, time_cost, total_time = api.simulate_train_eval(arch, dataset="cifar10", hp="12")
    if accuracy > best_acc:
        best_arch, best_acc = arch, accuracy
info = api.get_more_info(api.query_index_by_arch(best_arch), "cifar10", hp="200", is_random=False)
print(best_arch, best_acc, total_time, info["test-accuracy"])
"""


def run(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "nasbed.compat", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd)


def run_fork(*arguments: str | Path, cwd: Path) -> str:
    """What the same prints in a process that has imported the libraries."""
    code = "import runpy; runpy.run_module('nasbed.compat', run_name='__main__', alter_sys=True)"
    with fork_script(code, *map(str, arguments), cwd=cwd, stdout=subprocess.PIPE) as process:
        return process.communicate(timeout=60)[0]


def test_unchanged_nasbench_script_runs_and_repeats(tmp_path: Path) -> None:
    (tmp_path / "search.py").write_text(NASBENCH_SCRIPT)
    table = write_nb101(tmp_path / "nb101").folder
    first = run("search.py", table, "1", cwd=tmp_path)
    repeated, different = (run_fork("search.py", table, seed, cwd=tmp_path) for seed in ("1", "2"))
    assert first.returncode == 0, first.stderr
    names = [line.split()[0] for line in first.stdout.splitlines()]
    assert names == ["random_search", "evolution", "out"]
    assert first.stdout == repeated != different
    assert [line.split()[0] for line in different.splitlines()] == names


def test_unchanged_nats_bench_script_runs_and_repeats(tmp_path: Path) -> None:
    (tmp_path / "search.py").write_text(NATS_SCRIPT)
    table = write_nats(tmp_path / "cifar10", "cifar10", np.arange(15_625)).folder
    first, repeated = run("search.py", table, cwd=tmp_path), run_fork("search.py", table, cwd=tmp_path)
    assert first.returncode == 0, first.stderr
    arch, _, total, _ = first.stdout.split()
    assert arch.startswith("|") and float(total) >= 2000
    assert first.stdout == repeated


def test_runner_runs_a_script_as_python_would(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "neighbour.py").write_text("value = 7")
    (tmp_path / "there" / "script.py").write_text(
        "import sys, neighbour, nasbench.api, nats_bench\nprint(__name__, sys.argv, neighbour.value)\nsys.exit(3)"
    )
    process = run("there/script.py", "--replace", "x", cwd=tmp_path)
    assert process.returncode == 3
    assert process.stdout.strip() == "__main__ ['there/script.py', '--replace', 'x'] 7"


@pytest.mark.parametrize("arguments", [(), ("nowhere.py",), ("--replace",), ("--nasbench301",), ("-m",)])
def test_runner_answers_a_wrong_call_in_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    process = run(*arguments, cwd=tmp_path)
    assert process.returncode == 2 and len(process.stderr.splitlines()) == 1 and "usage" in process.stderr


def test_install_never_hides_the_published_package_unasked(tmp_path: Path) -> None:
    (tmp_path / "nasbench").mkdir()
    (tmp_path / "nasbench" / "__init__.py").write_text("")
    (tmp_path / "nasbench" / "api.py").write_text("NASBench = 'the published one'")
    (tmp_path / "script.py").write_text("from nasbench import api\nprint(api.NASBench)")
    outcome = run("script.py", cwd=tmp_path)
    assert outcome.returncode == 2 and "the package nasbench itself is installed" in outcome.stderr
    assert len(outcome.stderr.splitlines()) == 1
    replaced = run("--replace", "script.py", cwd=tmp_path)
    assert "nasbed.compat.nasbench.api.NASBench" in replaced.stdout


def test_install_puts_the_modules_under_their_names(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.split(".")[0] in ("nasbench", "nats_bench")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(sys, "path", [*sys.path])
    before = set(sys.modules)
    try:
        install("nasbench")
        assert "nats_bench" not in sys.modules
        install()
        install()
        from nasbed.compat.nasbench import api

        assert sys.modules["nasbench.api"] is api
        assert sys.modules["nasbench.lib.model_spec"].ModelSpec is api.ModelSpec
        with pytest.raises(UnknownName, match="no drop-in for 'nasbench301x'"):
            install("nasbench301x")
        sys.modules["nats_bench"] = sys
        with pytest.raises(DuplicateName, match="nats_bench itself is installed"):
            install()
        assert sys.modules["nats_bench"] is sys
        install(replace=True)
        assert sys.modules["nats_bench"].__name__ == "nasbed.compat.nats_bench"
    finally:
        for name in set(sys.modules) - before:
            if name.split(".")[0] in ("nasbench", "nats_bench"):
                del sys.modules[name]
