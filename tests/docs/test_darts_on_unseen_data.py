"""docs/findings/darts-on-unseen-data.md says of the DARTS networks on unseen data what their tables say."""

from __future__ import annotations

import re
from itertools import count

import numpy as np
from scipy.stats import spearmanr

import nasbed
from nasbed.benchmarks.places import table_path
from nasbed.results.rows import concatenate
from nasbed.results.store import Results
from support.documentation import page_text

PAGE = page_text("darts-on-unseen-data")


def test_page_has_the_facts_of_darts_on_unseen_data() -> None:
    rows_of_page = re.findall(r"^\| ([^|]+?) \| (.*) \|$", PAGE.replace("−", "-"), re.M)
    stated = {label: cells.split(" | ") for label, cells in rows_of_page}
    surrogate = nasbed.load("snb-darts-cifar10-16-lgb-v2.0:mean")
    columns = count()
    first_codes = None
    for table in ("darts-language-v1.0", "darts-chesseract-v1.0"):
        rows = concatenate(list(Results.open(table_path(table)).batches()))
        random = (rows.method == "grid") & (rows.seed == 0)
        _, owner, counts = np.unique(rows.codes, axis=0, return_inverse=True, return_counts=True)
        assert random.sum() == 500 and len(counts) == 1_076 and (counts == 3).sum() == 64
        codes = rows.codes[random]
        if first_codes is None:
            first_codes = codes
            predicted = surrogate.query_many(codes).values[surrogate.objective]
            parameters = surrogate.space.properties(codes)["parameters"]
        np.testing.assert_array_equal(codes, first_codes, "the same networks on both")
        for key in ("validation_accuracy", "test_accuracy"):
            accuracy = rows.values[key]
            seeds = np.array([accuracy[owner == each] for each in np.flatnonzero(counts == 3)])
            noise = seeds.var(axis=1, ddof=1).mean()
            facts = {
                "500 random": f"{accuracy[random].mean():.2f} ± {accuracy[random].std():.2f} %",
                "noise": f"{np.sqrt(noise):.2f} %",
                "most that": f"{1 - noise / accuracy[random].var():.2f}",
                "two seeds": f"{spearmanr(seeds[:, 0], seeds[:, 1]).statistic:.2f}",
                "with what": f"{spearmanr(accuracy[random], predicted).statistic:.2f}",
                "with counting": f"{spearmanr(accuracy[random], parameters).statistic:.2f}",
            }
            place = next(columns)
            for start, fact in facts.items():
                (label,) = (label for label in stated if label.startswith(start))
                assert stated[label][place] == fact, label
