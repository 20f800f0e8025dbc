"""TransNAS-Bench-101: the networks of its cells (micro) and of its modules (macro)."""
