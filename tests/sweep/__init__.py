"""Every architecture of transformers x every method, beside slow loops: `make sweep`."""
