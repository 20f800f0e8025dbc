"""A competition on unseen datasets, held on one machine: strangers' submissions run apart from it and are scored."""
