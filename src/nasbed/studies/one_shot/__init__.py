"""One-shot searches, watched (Surrogate NAS Benchmarks, appendix F.1)."""
