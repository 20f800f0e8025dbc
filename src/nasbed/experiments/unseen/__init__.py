"""CNN baselines and NAS methods on unseen datasets, trained for real."""
