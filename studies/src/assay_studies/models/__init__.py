"""Models that exist for the studies: a span reader, a model of entailment, and one of questions about images.

The library finds them through the entry-point group `assay.models`.
"""
