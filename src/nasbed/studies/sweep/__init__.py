"""A sweep over the settings of one method."""
