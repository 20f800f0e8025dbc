"""The numbers of the Surrogate NAS Benchmarks paper, and where a validation shows them. The rows below are the paper's."""

from __future__ import annotations

import math

import pytest

from nasbed import Metric
from nasbed.drawing.number_tables import NumberTable
from nasbed.studies.validation.paper_rows import with_paper
from nasbed.studies.validation.published import Figures, PublishedFigures, published
from nasbed.studies.validation.study import Validation
from nasbed.surrogates import SURROGATES

PERCENT = Metric("accuracy", split="validation", unit="%", bounds=(0, 100))
FRACTION = Metric("accuracy", split="validation", bounds=(0, 1))

TABLE_2 = """
LGBoost 0.892 0.816
XGBoost 0.832 0.817
GIN 0.832 0.778
NGBoost 0.810 0.759
μ-SVR 0.709 0.677
MLP 0.704 0.697
RF 0.679 0.683
ε-SVR 0.675 0.660
"""
TABLE_3 = """
Tabular 1.38e-3 undef. undef.
GIN 1.13e-3 0.6e-3 16.4
LGB 1.33e-3 0.3e-3 68.9
XGB 1.51e-3 0.3e-3 134.4
"""
TABLE_7_HEAD = "RE DE COMBO TPE BANANAS DARTS PC-DARTS DrNAS GDAS"
TABLE_7_R2 = """
LGB 0.917 0.892 0.919 0.857 0.909 -0.093 0.826 0.699 0.429
XGB 0.907 0.888 0.876 0.842 0.911 -0.151 0.817 0.631 0.672
GIN 0.856 0.864 0.775 0.789 0.881 0.115 0.661 0.790 0.572
"""
TABLE_7_SKT = """
LGB 0.834 0.782 0.833 0.770 0.592 0.780 0.721 0.694 0.595
XGB 0.831 0.780 0.817 0.762 0.596 0.775 0.710 0.709 0.638
GIN 0.798 0.757 0.737 0.718 0.567 0.765 0.645 0.706 0.607
"""
IDS = {"LGBoost": "lgb", "XGBoost": "xgb", "NGBoost": "ngb", "μ-SVR": "nusvr", "ε-SVR": "svr", "Tabular": "table"}


def rows(table: str) -> dict[str, list[float]]:
    """By our id; NaN for what the paper calls undefined."""
    rows = {}
    for line in table.strip().splitlines():
        name, *numbers = line.split()
        rows[IDS.get(name, name.lower())] = [math.nan if text == "undef." else float(text) for text in numbers]
    return rows


def of(space: str, metric: Metric = PERCENT) -> PublishedFigures:
    tables = published(space, metric)
    assert tables is not None
    return tables


def test_table_2_is_the_papers() -> None:
    fits = of("darts").fits
    assert {model: [fit.r2, fit.sparse_kendall] for model, fit in fits.items()} == rows(TABLE_2)
    assert set(fits) <= set(SURROGATES)


def test_table_3_is_the_papers_in_the_metrics_unit() -> None:
    for metric, scale in ((FRACTION, 1), (PERCENT, 100)):
        rows_of_models = of("darts", metric).table
        assert list(rows_of_models) == list(rows(TABLE_3))
        for model, (mae, std, kl) in rows(TABLE_3).items():
            row = rows_of_models[model]
            assert row.mae == pytest.approx(scale * mae)
            assert row.std == pytest.approx(scale * std, nan_ok=True)
            assert row.kl == pytest.approx(kl, nan_ok=True)


@pytest.mark.parametrize("model", ["lgb", "xgb", "gin"])
def test_table_7_is_the_papers(model: str) -> None:
    paper = of("darts")
    methods = [name.lower() for name in TABLE_7_HEAD.split()]
    assert sorted(paper.looo) == sorted(methods)
    for place, method in enumerate(methods):
        row = paper.left_out(method, model)
        assert row is not None
        assert (row.r2, row.sparse_kendall) == (rows(TABLE_7_R2)[model][place], rows(TABLE_7_SKT)[model][place])


def test_left_out_knows_other_spellings_and_says_nothing_of_others() -> None:
    paper = of("darts")
    assert repr(paper.left_out("pc_darts", "gin")) == repr(Figures(r2=0.661, sparse_kendall=0.645))  # others are NaN
    assert paper.left_out("ls", "lgb") is None and paper.left_out("re", "rf") is None


def test_fbnet_has_what_section_3_2_says() -> None:
    """0.84 R² and 0.75 sKT of XGBoost, and nothing else."""
    paper = of("fbnet")
    assert repr(dict(paper.fits)) == repr({"xgb": Figures(r2=0.84, sparse_kendall=0.75)})  # others are NaN
    assert not paper.table and not paper.looo


@pytest.mark.parametrize("space", ["darts", "fbnet"])
def test_labels_name_the_data_of_the_paper(space: str) -> None:
    dataset = {"darts": "CIFAR-10 32x32", "fbnet": "CIFAR-100 32x32"}[space]
    assert of(space).label.startswith("paper (") and dataset in of(space).label
    assert all("other data" in source for source in of(space).sources.values())


def test_other_spaces_and_metrics_have_none() -> None:
    assert published("nb201", PERCENT) is None
    assert published("darts", Metric("accuracy", split="test", unit="%", bounds=(0, 100))) is None
    assert published("darts", Metric("parameters", direction="minimize")) is None


def test_a_row_of_the_paper_stands_once_below_the_last_of_its_model() -> None:
    models = {"10 × lgb": "lgb", "smooth": "smooth", "lgb": "lgb", "gin": "gin"}
    study = Validation("it", "it", "darts", PERCENT, 9, 9, (), models, paper=of("darts"))
    columns = ("model", "R²", "sKT", "KL", "KL by spread")
    output = with_paper(NumberTable(columns, tuple((label, "1", "1", "1", "1") for label in models)), study, "fits")
    assert [row[0].split(",")[0] for row in output.rows] == ["10 × lgb", "smooth", "lgb", "lgb", "gin", "gin"]
    assert output.asides == {3, 5}
    assert output.rows[3] == ("lgb, paper (SNB-DARTS, CIFAR-10 32x32)", "0.892", "0.816", "–", "68.9")
    assert output.text().splitlines()[-1] == output.note and "table 2" in output.note
