"""Blocks of step lines given to everything that judges, with the same outcome as line by line.

Nearly all points of a log say nothing: they only move what a detector remembers. For each detector there is a
twin here that finds how many points of a run say nothing, and moves the detector past them in one go. At the
first point that may say something the twin stops, and the detector itself looks at it.
"""
