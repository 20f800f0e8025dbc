"""The overview of a benchmark: its rows, the columns of what is known of each, and what is kept between starts."""
