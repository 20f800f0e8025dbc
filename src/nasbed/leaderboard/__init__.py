"""Runs over a suite in one small file: reference runs, submissions, their verification and the leaderboard of both."""
