"""The search spaces: sample an architecture from each, see what is known of it without training, and draw its cells.

Writes a page to look at. Run: python examples/01_spaces.py --out DIR
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import nasbed
from nasbed.drawing import Section, cell_svg, write_page


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("spaces"), help="folder for the page")
    parser.add_argument("--seed", type=int, default=2, help="which architectures to show")
    options = parser.parse_args()

    sections = []
    for name in nasbed.list_spaces():
        space = nasbed.space(name)
        arch = space.sample(np.random.default_rng(options.seed))
        facts: dict[str, object] = {"architectures": space.size, "encodings": ", ".join(space.encodings)}
        facts |= {key: values[0] for key, values in space.properties([arch]).items()}
        facts |= {"neighbours": len(list(space.neighbors(arch))), "text": space.format(arch), "cite": space.citation}
        sections.append(Section(space.title, facts, cell_svg(space.diagrams(arch))))
        print(f"{name:<15} {space.size:>25,}  {space.format(arch)[:60]}")

    options.out.mkdir(parents=True, exist_ok=True)
    page = options.out / "spaces.html"
    write_page(page, "The search spaces of nasbed", sections)
    print(f"Open {page}")


if __name__ == "__main__":
    main()
