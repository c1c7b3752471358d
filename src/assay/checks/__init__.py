"""Checks: one validity test per file; each reads any explanation of its kind, whichever method made it."""
