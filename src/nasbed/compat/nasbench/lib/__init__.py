"""The parts of the NAS-Bench-101 package that scripts import directly."""
