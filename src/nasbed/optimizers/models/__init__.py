"""The models that search methods fit: densities, Gaussian processes, small networks."""
