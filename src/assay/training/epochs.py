"""The weights of every epoch of a training: directories beside the model, named as Hugging Face's Trainer names them.

DIR/checkpoint-1        DIR/checkpoint-2        ...

A recipe keeps them with every_epoch=True. `@checkpoint:2` is then the model as it was after its second epoch (where
Trainer trained it, after its second step).
"""

from __future__ import annotations

import re
from pathlib import Path

from assay.errors import Unanswerable, UnknownName
from assay.models import TextModel, load

PREFIX = "checkpoint-"


def checkpoints_in(directory: Path) -> list[int]:
    """The numbers of the checkpoints that lie in a directory."""
    names = (path.name for path in directory.glob(f"{PREFIX}*") if path.is_dir())
    return sorted(int(found[1]) for name in names if (found := re.fullmatch(rf"{PREFIX}(\d+)", name)))


def open_checkpoint(model: TextModel, number: str) -> TextModel:
    """The model at a checkpoint of its training, on the same device."""
    from assay.models.transformers.adapter import HuggingFace  # torch is slow to import
    from assay.training.place import no_bar  # which knows this module

    place = Path(model.name)
    known = checkpoints_in(place) if isinstance(model, HuggingFace) and place.is_dir() else []
    if not known:
        raise Unanswerable(
            f"there is no checkpoint of {model.name}: a model has some if it was loaded from a directory that holds "
            f"{PREFIX}1, {PREFIX}2 and so on."
        )
    if number not in map(str, known):
        raise UnknownName(f"{place} has no checkpoint {number!r}; it has {', '.join(map(str, known))}.")
    assert isinstance(model, HuggingFace)
    with no_bar():  # many may be opened, one after the other
        return load(place / f"{PREFIX}{number}", device=str(model.device))
