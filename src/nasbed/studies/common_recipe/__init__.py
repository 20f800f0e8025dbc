"""The choice of one training recipe for all architectures of a space."""
