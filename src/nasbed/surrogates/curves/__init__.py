"""One surrogate over all fidelities: learning curves as coefficients, their noise, and the fit."""
