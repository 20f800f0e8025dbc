"""Former public names: each is the object of the new name, and warns, until the version in which it goes."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import nasbed
from nasbed.core.former_names import FORMER_NAMES, FormerAttribute, former

STUDIES, UNSEEN = "nasbed.evaluation.studies", "nasbed.experiments.unseen"
FORMER = {
    "nasbed.compat.nasbench301.Ensemble": "nasbed.compat.nasbench301.PerformanceEnsemble",
    "nasbed.core.restricted_pickle.Record": "nasbed.core.restricted_pickle.PickledObject",
    "nasbed.datasets.Part": "nasbed.datasets.LabelledImages",
    "nasbed.datasets.Source": "nasbed.datasets.DatasetSource",
    "nasbed.datasets.Split": "nasbed.datasets.ImageSplit",
    "nasbed.datasets.opening.opened": "nasbed.datasets.opening.open_dataset",
    "nasbed.datasets.unseen.Made": "nasbed.datasets.unseen.GeneratedDataset",
    "nasbed.datasets.unseen.MadePart": "nasbed.datasets.unseen.GeneratedPart",
    "nasbed.datasets.unseen.pinned.pinned": "nasbed.datasets.unseen.digests.pinned_digests",
    "nasbed.datasets.unseen.Unseen": "nasbed.datasets.unseen.UnseenGenerator",
    "nasbed.evaluation.landscape.Binned": "nasbed.evaluation.landscape.BinnedMean",
    "nasbed.evaluation.proxies.Against": "nasbed.evaluation.proxies.BaselineComparison",
    "nasbed.evaluation.proxies.Measured": "nasbed.evaluation.proxies.MeasureEstimate",
    f"{STUDIES}.landscape.landscape_study": "nasbed.studies.landscape.study.landscape_study",
    f"{STUDIES}.one_shot.one_shot_study": "nasbed.studies.one_shot.study.one_shot_study",
    f"{STUDIES}.surrogate.Options": "nasbed.studies.validation.ValidationOptions",
    f"{STUDIES}.surrogate.Recipe": "nasbed.studies.validation.SurrogateRecipe",
    f"{STUDIES}.surrogate.Validation": "nasbed.studies.validation.Validation",
    f"{STUDIES}.surrogate.validate_artefact": "nasbed.studies.validation.validate_artefact",
    f"{STUDIES}.surrogate.validate_results": "nasbed.studies.validation.validate_results",
    f"{STUDIES}.unseen_baseline.measured_baseline": f"{UNSEEN}.baseline.measured_baseline",
    f"{STUDIES}.unseen_nas.measured_nas": f"{UNSEEN}.nas.measured_nas",
    f"{STUDIES}.unseen_nas_budget.NasBudget": f"{UNSEEN}.budget.NasBudget",
    f"{STUDIES}.unseen_nas_runs.NasPlan": f"{UNSEEN}.runs.NasPlan",
    f"{STUDIES}.unseen_nas_runs.measure": f"{UNSEEN}.runs.measure",
    f"{STUDIES}.unseen_results.append_result": f"{UNSEEN}.results.append_result",
    f"{STUDIES}.zero_cost_statements.statements": "nasbed.studies.zero_cost.statements.statements",
    "nasbed.experiments.campaign.Progress": "nasbed.experiments.campaign.CampaignProgress",
    "nasbed.experiments.engines.Engine": "nasbed.core.execution.Engine",
    "nasbed.experiments.engines.LocalEngine": "nasbed.core.execution.LocalEngine",
    "nasbed.experiments.engines.Outcome": "nasbed.core.execution.TaskOutcome",
    "nasbed.experiments.engines.SerialEngine": "nasbed.core.execution.SerialEngine",
    "nasbed.experiments.engines.WAIT": "nasbed.core.execution.WAIT",
    "nasbed.experiments.engines.attempt": "nasbed.core.execution.attempt",
    "nasbed.experiments.ray_engine.RayEngine": "nasbed.core.execution.ray_engine.RayEngine",
    "nasbed.experiments.tuning.Parts": "nasbed.surrogates.table_split.TableSplit",
    "nasbed.oneshot.bonsai.BonsaiArchitecture": "nasbed.spaces.bonsai.BonsaiGenotype",
    "nasbed.oneshot.bonsai.BonsaiCell": "nasbed.spaces.bonsai.BonsaiCell",
    "nasbed.oneshot.bonsai.BonsaiEpoch": "nasbed.oneshot.trajectory.SearchEpoch",
    "nasbed.oneshot.bonsai.BonsaiNetwork": "nasbed.networks.bonsai.BonsaiNetwork",
    "nasbed.oneshot.bonsai.BonsaiSearched": "nasbed.oneshot.trajectory.SearchResult",
    "nasbed.oneshot.bonsai.BonsaiSettings": "nasbed.oneshot.BonsaiSettings",
    "nasbed.oneshot.bonsai.Frame": "nasbed.spaces.bonsai.Frame",
    "nasbed.oneshot.bonsai.record.BonsaiRecord": "nasbed.oneshot.record.SearchRecord",
    "nasbed.oneshot.bonsai.record.read_bonsai_record": "nasbed.oneshot.record.read_record",
    "nasbed.oneshot.bonsai.record.write_bonsai_record": "nasbed.oneshot.record.write_record",
    "nasbed.oneshot.methods.base.Method": "nasbed.oneshot.methods.base.SupernetMethod",
    "nasbed.oneshot.Searched": "nasbed.oneshot.SearchResult",
    "nasbed.reports.Section": "nasbed.drawing.Section",
    "nasbed.reports.cell_svg": "nasbed.drawing.cell_svg",
    "nasbed.reports.proxies.write_proxies_report": "nasbed.reports.proxies.page.write_proxies_report",
    "nasbed.reports.save_cells": "nasbed.drawing.save_cells",
    "nasbed.reports.standings.verdict": "nasbed.reports.comparison.verdict",
    "nasbed.reports.surrogate_validation.write_validation": "nasbed.studies.validation.page.write_validation",
    "nasbed.reports.write_page": "nasbed.drawing.write_page",
    "nasbed.results.About": "nasbed.results.TableInfo",
    "nasbed.training.Trained": "nasbed.training.TrainingOutcome",
}
"""Names that version 0.1 documented, or listed in the ``__all__`` of a module, and what each is called now."""


@pytest.mark.parametrize(("old", "new"), FORMER.items())
def test_former_name_is_the_new_object_and_warns(old: str, new: str) -> None:
    module, _, name = old.rpartition(".")
    new_module, _, new_name = new.rpartition(".")
    expected = getattr(import_module(new_module), new_name)
    with pytest.warns(DeprecationWarning) as warnings:
        value = getattr(import_module(module), name)
    assert value is expected
    assert [str(warning.message) for warning in warnings] == [
        f"{old} is now {new}; the former name goes in version 0.3"
    ]
    assert warnings[0].filename == __file__, "the line that uses the former name"


def test_every_former_name_is_in_the_table() -> None:
    """And none lives longer than promised."""
    source = Path(nasbed.__file__).parent
    for path in source.rglob("*.py"):
        if "former(\n" in (text := path.read_text()) or "former(__name__" in text:
            parts = path.relative_to(source.parent).with_suffix("").parts
            import_module(".".join(parts).removesuffix(".__init__"))
    assert {old: new.replace(":", ".") for old, new in FORMER_NAMES.items() if old.startswith("nasbed.")} == FORMER
    assert tuple(map(int, re.findall(r"\d+", nasbed.__version__)[:2])) < (0, 3), "remove the former names"


def test_former_module_is_imported_before_its_package() -> None:
    code = "import nasbed.evaluation.studies.unseen_results as former; print(former.append_result.__module__)"
    run = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "nasbed.experiments.unseen.results\n"


def test_unknown_name_is_no_former_one() -> None:
    with pytest.raises(AttributeError, match=r"^module 'here' has no attribute 'Other'$"):
        former("here", {"Old": "math:pi"}, until="9.9")("Other")


def test_former_attribute_is_the_new_one_and_warns() -> None:
    class Thing:
        new = 3
        old = FormerAttribute("new", until="9.9")

    with pytest.warns(
        DeprecationWarning, match=r"^Thing\.old is now Thing\.new; the former name goes in version 9\.9$"
    ):
        assert Thing().old == 3
