"""Raw material of unseen datasets: archives, games, books, recordings, satellite images."""
