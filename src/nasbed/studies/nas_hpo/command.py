"""``nasbed study nas-hpo``: hyperparameters tuned for each architecture, against one setting for all."""

from __future__ import annotations

import typer

from nasbed.terminal.interruption import NOTHING_KEPT, on_interrupt
from nasbed.terminal.output import print_fields
from nasbed.terminal.progress import stage_bar
from nasbed.terminal.report_options import Figures, Formats, Out, report_formats

NAS_HPO_TABLES = ("fcnet/protein", "fcnet/naval", "fcnet/slice", "fcnet/parkinsons")


def nas_hpo(out: Out, figures: Figures = False, format: Formats = None) -> None:
    """Compare tuning each architecture with one setting for all, on NAS-HPO-Bench (NAS-Bench-101, section 5.1).

    Example: nasbed study nas-hpo --out nas-hpo
    """
    on_interrupt(lambda: NOTHING_KEPT)
    formats = report_formats(out, figures, format)

    from nasbed.benchmarks import load
    from nasbed.studies.nas_hpo.page import nas_hpo_facts, nearest_definition, write_nas_hpo_report
    from nasbed.studies.nas_hpo.study import PUBLISHED, nas_hpo_study

    results = []
    with stage_bar("Studying", (*NAS_HPO_TABLES, "report")) as start_stage:
        for name in NAS_HPO_TABLES:
            start_stage(name)
            results += nas_hpo_study(load(name))
        start_stage("report")
        write_nas_hpo_report(results, out, formats=formats)
    print_fields(nas_hpo_facts(results))
    closest = nearest_definition(results)
    typer.echo(f"\npublished for protein: {PUBLISHED}; nearest: {closest.definition}, {closest.transfer.spearman:.4f}")
    typer.echo(str(out / "report.html"))
