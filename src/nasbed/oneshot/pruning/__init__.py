"""Bonsai-Net: the search that prunes a network while it trains it, and its settings. Only the search needs torch."""
