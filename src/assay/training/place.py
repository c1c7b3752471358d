"""Where a trained model is saved: a directory that is there whole or not at all, and says how it was trained."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

from safetensors import SafetensorError

from assay.errors import BadFile, BadInput
from assay.models import TextModel, load
from assay.storage.lock import Lock
from assay.storage.plain import require_plain
from assay.training.epochs import PREFIX

TRAINING = "training.json"


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
        return (self.path / TRAINING).is_file()

    @contextmanager
    def held(self) -> Iterator[None]:
        """Within it no other process trains here; the lock lies beside the directory, which is not there yet."""
        beside = self.path.with_name(f".{self.path.name}.held")
        with ExitStack() as stack:
            try:
                beside.mkdir(parents=True, exist_ok=True)
                stack.callback(_remove_empty, beside)  # another one may just have come
                stack.enter_context(Lock(beside, of=self.path))
            except OSError as error:
                raise BadFile(f"{self.path} cannot be written: {error.strerror or error}.") from error
            yield

    def finished(self, training: Mapping[str, Any]) -> bool:
        """Whether the model is there already; anything else that is there is refused."""
        require_plain(self.path.parent, [self.path.name])
        if not self.path.exists() or (self.path.is_dir() and not any(self.path.iterdir())):
            return False
        try:
            saved = dict(json.loads((self.path / TRAINING).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError):
            raise BadInput(f"{self.path} is not the directory of a training; use another one.") from None
        if other := sorted(name for name in {*saved, *training} if saved.get(name) != training.get(name)):
            raise BadInput(f"{self.path} holds another training (it differs in {', '.join(other)}); use another one.")
        self._tidy()  # a kill may have come when the directory had just got its name
        return True

    @property
    def epochs(self) -> Path:
        """Where the weights of every epoch wait for the end of the training."""
        return self.path.with_name(f".{self.path.name}.epochs")

    def save(self, model: Any, tokenizer: Any, training: Mapping[str, Any]) -> None:
        """The directory gets its name when it is whole; the checkpoint goes."""
        with self._whole(self.path) as beside:
            _save_both(model, tokenizer, beside)
            (beside / TRAINING).write_text(json.dumps(training, indent=1), encoding="utf-8")
            for epoch in self.epochs.glob(f"{PREFIX}*"):  # they stay until the directory is whole: a kill may come
                shutil.copytree(epoch, beside / epoch.name, copy_function=_linked)
        self._tidy()

    def _tidy(self) -> None:
        """What a finished training needs no more."""
        shutil.rmtree(self.epochs, ignore_errors=True)
        self.checkpoint.unlink(missing_ok=True)

    def save_epoch(self, model: Any, tokenizer: Any, number: int) -> None:
        """Keep the weights after an epoch; those of a run that was killed right then are replaced."""
        place = self.epochs / f"{PREFIX}{number}"
        shutil.rmtree(place, ignore_errors=True)
        with self._whole(place) as beside:
            _save_both(model, tokenizer, beside)

    @contextmanager
    def _whole(self, path: Path) -> Iterator[Path]:
        """A directory that gets the name `path` at the end, and never before."""
        beside = path.with_name(f".{path.name}.{uuid4().hex[:8]}.part")
        try:
            beside.mkdir(parents=True)
            yield beside
            beside.replace(path)
        except (OSError, SafetensorError) as error:
            why = error.strerror if isinstance(error, OSError) else None
            raise BadFile(f"the model cannot be saved in {self.path}: {why or error}.") from error
        finally:
            shutil.rmtree(beside, ignore_errors=True)


def _remove_empty(directory: Path) -> None:
    with suppress(OSError):
        directory.rmdir()


def _linked(source: str, target: str) -> None:
    """The same file under another name; a copy where the file system has no links."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)


def _save_both(model: Any, tokenizer: Any, place: Path) -> None:
    with no_bar():
        model.save_pretrained(place)
    tokenizer.save_pretrained(place)


def opened(path: Path, wanted: str | None) -> TextModel:
    """The model of a directory, on the wanted device."""
    with no_bar():
        return load(path, device=device(wanted))


def device(wanted: str | None) -> str:
    """Where a model is trained, and where it is found again: as wanted, else the card where there is one."""
    import torch

    return wanted or ("cuda" if torch.cuda.is_available() else "cpu")


@contextmanager
def no_bar() -> Iterator[None]:
    """Within it transformers shows no bar of its own; afterwards as the user had it."""
    from transformers.utils import logging

    shown = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if shown:
            logging.enable_progress_bar()


class KeptInPlace:
    """A recipe whose models lie in a directory each."""

    def is_made(self, out: Path) -> bool:
        return Place(out).is_whole
