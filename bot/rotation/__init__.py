"""Rotating a training log without losing it: what fits its writer, and whether a rotation lost something."""
