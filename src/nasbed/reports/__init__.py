"""Pictures and pages of what the rest of the package knows. Reports only draw: they compute no result."""

from nasbed.reports.cells import cell_svg, save_cells
from nasbed.reports.page import Section, write_page

__all__ = ["Section", "cell_svg", "save_cells", "write_page"]
