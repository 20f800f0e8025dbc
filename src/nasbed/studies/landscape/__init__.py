"""NAS-Bench-101's section 3 for any table."""
