"""Tables 1 to 3 of the paper on unseen datasets, measured beside published."""
