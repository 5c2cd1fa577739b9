"""Measurements of infovec against support vector machines and against the speed of the machine."""
