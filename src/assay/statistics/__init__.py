"""Intervals, rank correlations, divergences and curves."""
