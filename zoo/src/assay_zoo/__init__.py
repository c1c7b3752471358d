"""Small real models inside the box: one masked language model, five adapters on it, and a writer.

    import assay_zoo
    model, tokenizer = assay_zoo.load("sst2")

Everything heavy is imported when a model is loaded; names and cards are plain files.
"""

from typing import TYPE_CHECKING, Any

from assay_zoo.cards import Card, card, names, writer_card, writers
from assay_zoo.errors import ZooError

if TYPE_CHECKING:
    from assay_zoo.extras import glove, movie_reviews, smollm2
    from assay_zoo.loading import load
    from assay_zoo.writer import load_writer

LAZY = {"load": "loading", "glove": "extras", "movie_reviews": "extras", "smollm2": "extras"}
LAZY |= {"load_writer": "writer"}

__all__ = ["Card", "ZooError", "card", "glove", "load", "load_writer", "movie_reviews", "names", "smollm2"]
__all__ += ["writer_card", "writers"]


def __getattr__(name: str) -> Any:
    """Import the part that holds a verb when it is first asked for."""
    if name not in LAZY:
        raise AttributeError(f"module 'assay_zoo' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"assay_zoo.{LAZY[name]}"), name)
