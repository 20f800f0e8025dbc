"""Studies: the statistics of one paper's figure or table for a whole benchmark, as values that a report can draw."""
