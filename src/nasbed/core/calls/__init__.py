"""What the functions that users call share."""
