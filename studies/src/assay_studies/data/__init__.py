"""Readers of published datasets that only studies need; those with human highlights are in `assay.data`."""
