"""The explorer: a web page to see a benchmark, edit a cell and watch a search, and the JSON API that it talks to."""
