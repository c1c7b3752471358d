"""Adversarial examples: small changes of a text after which the model says something else."""
