"""Probes of behaviour: small questions with a known answer, from published files and from templates."""
