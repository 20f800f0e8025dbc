"""The leaderboard: a page over suites, and the page of each suite beside it."""

from nasbed.reports.leaderboard.page import write_leaderboard

__all__ = ["write_leaderboard"]
