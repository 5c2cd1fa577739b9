"""The normal distribution, quadrature, Cholesky factors and parameter transforms."""
