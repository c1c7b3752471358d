"""What can be asked about a model, and the answers."""
