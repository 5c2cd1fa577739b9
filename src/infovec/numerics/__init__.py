"""Layer 0: the normal distribution, quadrature, Cholesky factors and parameter transforms."""
