"""NAS-Bench-101's section 4.2: searches in a part of a space and in the whole."""
