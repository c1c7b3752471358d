"""The kinds of explanation: frozen, numpy, without the model and without plotting code."""
