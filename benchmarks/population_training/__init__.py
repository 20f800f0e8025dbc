"""The parts of ``benchmarks/population.py``: its cases, what is measured, the baselines, and the table."""
