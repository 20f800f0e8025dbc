"""Networks on the device that trains them, and the memory of its process. Needs torch."""
