"""The pages of commands: comparisons, fits, tunings, proxies, challenges. Those of studies are with the studies.

What draws is in :mod:`nasbed.drawing`; its names are offered here too until the next version.
"""

from nasbed.drawing import Section, cell_svg, save_cells, write_page

__all__ = ["Section", "cell_svg", "save_cells", "write_page"]
