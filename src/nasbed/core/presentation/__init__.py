"""How values show themselves: as data frames, and by functions of packages above them."""
