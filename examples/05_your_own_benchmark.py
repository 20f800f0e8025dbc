"""Your own space, your own data, your own benchmark: docs/tutorials/your-own-benchmark.md goes through this code."""

from typing import Any

from ConfigSpace import ConfigurationSpace
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neural_network import MLPClassifier

import nasbed
from nasbed.experiments.campaign import Campaign, FunctionTrainer, Repeats
from nasbed.studies.validation import SurrogateRecipe, validate_results
from nasbed.studies.validation.page import write_validation

choices: dict[str, Any] = {"layers": (1, 3), "width": [8, 16, 32, 64], "activation": ["relu", "tanh", "logistic"]}
choices |= {"learning_rate_init": [0.001, 0.003, 0.01, 0.03], "batch_size": [64, 128, 256], "solver": ["adam", "sgd"]}
space = nasbed.space_from_configspace(ConfigurationSpace(space=choices), "digits-mlp")
images, labels = load_digits(return_X_y=True)
train_x, valid_x, train_y, valid_y = train_test_split(images / 16, labels, test_size=0.5, random_state=0)


def evaluate(architecture: nasbed.Architecture, epochs: int, seed: int) -> float:
    chosen = space.to_native(architecture)  # {"layers": 2, "width": 32, "activation": "relu", …}
    network = MLPClassifier([chosen.pop("width")] * chosen.pop("layers"), **chosen, random_state=seed)
    for _ in range(epochs):
        network.partial_fit(train_x, train_y, classes=range(10))
    return float(100 * network.score(valid_x, valid_y))


accuracy = nasbed.Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
trainer = FunctionTrainer(evaluate, space, metrics=[accuracy], fidelities=[4], dataset="digits")
campaign = Campaign("digits-mlp", trials=120, shares={"rs": 0.4, "re": 0.3, "ls": 0.3}, repeats=Repeats(20, seeds=3))
results = nasbed.collect(campaign, trainer, out="digits-mlp")

path = "snb-digits-mlp-digits-lgb-v0.1.snb"
surrogate = nasbed.fit(results, "lgb", members=5, version="0.1", out=path)
print(f"{path}: R² {surrogate.artefact.manifest.figures['r2']:.2f} on architectures that it was not fitted on")
checks = validate_results(results, [SurrogateRecipe("lgb")], out="validation", parts=["fits", "table", "looo"])
write_validation(checks, "validation")

runs = nasbed.compare(path, ["rs", "re"], seeds=10, budget="300ev", out="comparison")
print(runs, "see", runs.write_report("comparison"))
