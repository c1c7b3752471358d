"""How one question is answered."""
