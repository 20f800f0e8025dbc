"""NAS-Bench-101's section 5.1: tuned against fixed hyperparameters."""
