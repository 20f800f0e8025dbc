"""Files of scores that others made, and files put together."""
