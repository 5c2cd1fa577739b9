"""Inputs that nobody would write, made by chance from those that are right."""
