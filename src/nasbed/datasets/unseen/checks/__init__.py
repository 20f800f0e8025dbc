"""Whether a dataset in the competition's format can be trusted."""
