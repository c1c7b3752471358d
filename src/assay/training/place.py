"""Where a trained model is saved: a directory that is there whole or not at all, and says how it was trained."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from assay.errors import BadFile, BadInput

_TRAINING = "training.json"


@dataclass(frozen=True)
class Place:
    """The directory of a trained model; while it is trained, only a checkpoint beside it is there."""

    path: Path

    @property
    def checkpoint(self) -> Path:
        return self.path.with_name(f"{self.path.name}.checkpoint")

    @property
    def is_whole(self) -> bool:
        """Whether a trained model is there; the directory gets its name only then."""
        return (self.path / _TRAINING).is_file()

    def finished(self, told: Mapping[str, Any]) -> bool:
        """Whether the model is there already; anything else that is there is refused."""
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return False
        try:
            saved = json.loads((self.path / _TRAINING).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            raise BadInput(f"{self.path} is not the directory of a training; use another one.") from None
        if other := sorted(name for name in {*saved, *told} if saved.get(name) != told.get(name)):
            raise BadInput(f"{self.path} holds another training (it differs in {', '.join(other)}); use another one.")
        return True

    def save(self, model: Any, tokenizer: Any, told: Mapping[str, Any]) -> None:
        """The directory gets its name when it is whole; the checkpoint goes."""
        beside = self.path.with_name(f".{self.path.name}.{uuid4().hex[:8]}.part")
        try:
            beside.mkdir(parents=True)
            with _no_bar():
                model.save_pretrained(beside)
            tokenizer.save_pretrained(beside)
            (beside / _TRAINING).write_text(json.dumps(told, indent=1), encoding="utf-8")
            beside.replace(self.path)
        except OSError as error:
            raise BadFile(f"the model cannot be saved in {self.path}: {error.strerror or error}.") from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)
        self.checkpoint.unlink(missing_ok=True)


def device(wanted: str | None) -> str:
    """Where a model is trained, and where it is found again: as wanted, else the card where there is one."""
    import torch

    return wanted or ("cuda" if torch.cuda.is_available() else "cpu")


@contextmanager
def _no_bar() -> Iterator[None]:
    """Within it transformers shows no bar of its own; afterwards as the user had it."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()
