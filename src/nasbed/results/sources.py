"""The published files that tables are made from: where each is, how it is known to be the right one, how it is read.

A SHA-256 is here only if the authors of the file published it. Where they did not, whoever fetches the file says what
it must be, or says that it is taken on trust. Where a file lies behind a page that a program cannot pass, the entry
says how a person gets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from nasbed.core.registry import Registry


@dataclass(frozen=True, slots=True)
class Source:
    """One published file. Without ``url`` it has to be fetched by hand from ``page``.

    ``bytes`` is the size in round numbers, for planning, where anybody told it. ``options`` are what the importer of
    ``format`` is given. ``tables`` are the names, or globs of names, of the tables that come out.
    """

    id: str
    title: str
    file: str
    page: str
    bytes: int | None
    format: str
    tables: tuple[str, ...]
    licence: str
    citation: str
    url: str | None = None
    sha256: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)


SOURCES = Registry[Source]("published file", group="nasbed.sources")

_NB101 = "Ying et al., NAS-Bench-101: Towards Reproducible Neural Architecture Search, ICML 2019, arXiv:1902.09635"
_NB301 = (
    "Zela et al., Surrogate NAS Benchmarks: Going Beyond the Limited Search Spaces of Tabular NAS Benchmarks, ICLR "
    "2022, arXiv:2008.09777"
)
_NATS = (
    "Dong et al., NATS-Bench: Benchmarking NAS Algorithms for Architecture Topology and Size, TPAMI 2021, "
    "arXiv:2009.00437"
)
_TRANSNAS = (
    "Duan et al., TransNAS-Bench-101: Improving Transferability and Generalizability of Cross-Task Neural Architecture "
    "Search, CVPR 2021, arXiv:2105.11871"
)
_ZERO = (
    "Krishnakumar et al., NAS-Bench-Suite-Zero: Accelerating Research on Zero Cost Proxies, NeurIPS 2022, "
    "arXiv:2210.03230"
)

for _source in (
    Source(
        id="nb101",
        title="NAS-Bench-101, all of 4, 12, 36 and 108 epochs",
        file="nasbench_full.tfrecord",
        page="https://github.com/google-research/nasbench",
        url="https://storage.googleapis.com/nasbench/nasbench_full.tfrecord",
        sha256="3d64db8180fb1b0207212f9032205064312b6907a3bbc81eabea10db2f5c7e9c",
        bytes=2_090_000_000,
        format="nb101",
        tables=("nb101",),
        licence="Apache-2.0",
        citation=_NB101,
    ),
    Source(
        id="nb101-108",
        title="NAS-Bench-101, 108 epochs only",
        file="nasbench_only108.tfrecord",
        page="https://github.com/google-research/nasbench",
        url="https://storage.googleapis.com/nasbench/nasbench_only108.tfrecord",
        sha256="4c39c3936e36a85269881d659e44e61a245babcb72cb374eacacf75d0e5f4fd1",
        bytes=523_000_000,
        format="nb101",
        tables=("nb101-108",),
        options={"name": "nb101-108"},
        licence="Apache-2.0",
        citation=_NB101,
    ),
    Source(
        id="nb301",
        title="NAS-Bench-301, the trained architectures with their learning curves",
        file="nb_301_v13_lc_iclr_final.zip",
        page="https://figshare.com/articles/dataset/nasbench301_full_data/13286105",
        url="https://figshare.com/ndownloader/files/25594868",
        bytes=300_000_000,
        format="nb301",
        tables=("snb-darts/cifar10",),
        licence="Apache-2.0",
        citation=_NB301,
    ),
    Source(
        id="nats-tss",
        title="NATS-Bench, topology (the cells of NAS-Bench-201)",
        file="NATS-tss-v1_0-3ffb9-simple.tar",
        page="https://drive.google.com/file/d/17_saCsj_krKjlCBLOJEpNtzPXArMCqxU",
        bytes=1_100_000_000,
        format="nats-bench",
        tables=("nats-tss/*",),
        licence="MIT",
        citation=_NATS,
    ),
    Source(
        id="nats-sss",
        title="NATS-Bench, size",
        file="NATS-sss-v1_0-50262-simple.tar",
        page="https://drive.google.com/file/d/1scOMTUwcQhAMa_IMedp9lTzwmgqHLGgA",
        bytes=1_100_000_000,
        format="nats-bench",
        tables=("nats-sss/*",),
        licence="MIT",
        citation=_NATS,
    ),
    Source(
        id="transnas",
        title="TransNAS-Bench-101, micro and macro, seven tasks",
        file="transnas-bench_v10141024.pth",
        page="https://drive.google.com/drive/folders/1HlLr2ihZX_ZuV3lJX_4i7q4w-ZBdhJ6o",
        bytes=105_000_000,
        format="transnas",
        tables=("transnas-micro/*", "transnas-macro/*"),
        licence="MIT",
        citation=_TRANSNAS,
    ),
    *(
        Source(
            id=f"zero-{name}",
            title=f"NAS-Bench-Suite-Zero, 13 zero-cost proxies on {title}",
            file=file,
            page=f"https://drive.google.com/file/d/{drive_id}",
            bytes=None,
            format="suite-zero",
            tables=(f"suite-zero/{name}/*",),
            licence="Apache-2.0",
            citation=_ZERO,
        )
        for name, title, file, drive_id in (
            ("nb101", "NAS-Bench-101", "zc_nasbench101.json", "1Rkse44EWgYdBS34iyhjSs9Y2l0fxPCpU"),
            ("nb201", "NAS-Bench-201", "zc_nasbench201.json", "1R7n7GpFHAjUZpPISzbhxH0QjubnvZM5H"),
            ("darts", "the DARTS space of NAS-Bench-301", "zc_nasbench301.json", "1RddgmwqjWJ1czGT8gEPB8qqhUHazp92G"),
            ("transnas-micro", "TransNAS micro", "zc_transbench101_micro.json", "1SBOVAyhLCBTAJiU_fo7hLRknNrGNqFk7"),
            ("transnas-macro", "TransNAS macro", "zc_transbench101_macro.json", "1teH8JcQsamZngUD_DMQyNkCoUYYSTM0M"),
        )
    ),
):
    SOURCES.add(_source.id, _source)
