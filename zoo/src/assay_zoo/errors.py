"""The one error of the zoo: its sentence says what is wrong and what to do."""

REINSTALL = "pip install --force-reinstall ./zoo"


class ZooError(RuntimeError):
    """A model, a card or an optional part is missing, damaged or unknown."""
