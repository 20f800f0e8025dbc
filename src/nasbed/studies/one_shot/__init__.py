"""One-shot searches over their epochs (Surrogate NAS Benchmarks, appendix F.1)."""
