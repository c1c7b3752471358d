"""Training: small models for a test or a demonstration, fine-tuning, and the loop that all torch models share."""
