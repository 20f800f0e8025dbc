"""Whether a surrogate can be trusted: the checks of the Surrogate NAS Benchmarks on any table of results."""
