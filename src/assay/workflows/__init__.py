"""Longer jobs made of several steps: audits, mending, tests that train models, asking people."""
