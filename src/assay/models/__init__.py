"""Models, from whatever the user has: a name, a directory, objects, a pipeline, a function.

load("sst2")                a bundled model        load((model, tokenizer))   transformers objects
load("path/to/dir")         a saved model          load(pipeline)             of transformers or scikit-learn
load("module:attribute")    a Python object        load(lambda texts: ...)    a function to probabilities
"""

from __future__ import annotations

from assay.models.base import TextModel
from assay.models.black_box import BlackBox
from assay.models.loading import bundled, load, writers

__all__ = ["BlackBox", "TextModel", "bundled", "load", "writers"]
