"""Layer 6: from checked settings and data to a fitted posterior, without scikit-learn."""
