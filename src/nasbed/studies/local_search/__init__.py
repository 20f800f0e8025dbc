"""Local search early and late (Surrogate NAS Benchmarks, section 4)."""
