"""Cells, charts, tables and pages: drawing only, no result is computed here."""

from nasbed.drawing.cells import cell_svg, save_cells
from nasbed.drawing.page import Section, write_page

__all__ = ["Section", "cell_svg", "save_cells", "write_page"]
