"""Every search method on one page."""
