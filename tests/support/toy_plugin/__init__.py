"""A trainable space as a plug-in brings it: one file for the space, one for its network, two entry points."""
