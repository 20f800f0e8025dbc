"""Families of unseen datasets: generators with parameters, of which the published datasets are presets."""
