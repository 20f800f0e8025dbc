"""From a table to a benchmark of the whole space: fit a surrogate on a part of NAS-Bench-201, and search on it.

Needs the extra ``tables``, which brings the table. A real surrogate has ten members and as many trees as it needs
(``nasbed fit nb201/cifar10 --model lgb``), and predicts how long a training takes; this one has two small members and
no model of the time, so that it is there in seconds.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import nasbed
from nasbed.benchmarks import NoiseFree, SurrogateBenchmark, TabularBenchmark
from nasbed.core.execution import SerialEngine
from nasbed.experiments.compare import compare
from nasbed.surrogates.making import make_surrogate

table = nasbed.load("nb201/cifar10")
assert isinstance(table, TabularBenchmark)
artefact = make_surrogate(table.results, "lgb", members=2, settings={"rounds": 40, "learning_rate": 0.2}, runtime=None)
figures = artefact.manifest.figures
print(f"on unseen cells: R² {figures['r2']:.3f}, Kendall {figures['kendall']:.3f}")
print(f"90 % intervals hold {100 * (figures['coverage'] or 0):.0f} % of held-out evaluations")

folder = Path(tempfile.mkdtemp())
path = artefact.save(folder / f"{artefact.manifest.name}.snb")
benchmark = nasbed.load(path)
assert isinstance(benchmark, SurrogateBenchmark)
arch = benchmark.space.parse(
    "|nor_conv_3x3~0|+|nor_conv_3x3~0|nor_conv_3x3~1|+|skip_connect~0|nor_conv_3x3~1|nor_conv_3x3~2|"
)
noisy = [benchmark.query(arch, seed=seed)["validation_accuracy"] for seed in range(3)]
print("three trainings:", [round(value, 2) for value in noisy])
print("their mean:", round(NoiseFree(benchmark).query(arch)["validation_accuracy"], 2))
print("measured:", [round(observation["validation_accuracy"], 2) for observation in table.repeats(arch)])

runs = compare(str(path), ["rs", "re"], seeds=3, budget="300ev", out=folder / "runs", engine=SerialEngine())
for run in runs.runs:
    print(run.method, run.seed, f"{run.value.max():.2f} %")
