"""Models that were trained on a sample, each in a directory under its digest.

DIR/3f0c...         a trained model, as its recipe saved it; it is there whole or not at all
DIR/.3f0c....lock   held by the process that trains it; others wait for it

The digest is that of the recipe's settings, the sample and the seed, with the bytes of the files that a recipe starts
from: whatever asks for the same model gets the same directory, and a model that is there already is not trained again.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

from filelock import FileLock, Timeout

from assay.errors import BadFile, BadInput
from assay.models import TextModel
from assay.progress import log
from assay.text.sample import Sample
from assay.text.text import Row
from assay.training.recipes import Recipe, Trainer, recipe

NAME = "@trained:"


class SideBySideRecipe(Recipe, Protocol):
    """One that can make several models at once, sooner than one after the other."""

    def make_all(
        self, recipes: Sequence[Any], texts: Sequence[Row], labels: Sequence[str], seed: int, outs: Sequence[Path]
    ) -> None:
        """A model of each recipe into its directory; they are of one kind, and `self` is one of them."""


class TrainedModels:
    """The directory of trained models; without one, a temporary directory that goes with this object."""

    def __init__(self, place: str | Path | None = None) -> None:
        self._place = None if place is None else Path(place)
        self._temporary: TemporaryDirectory[str] | None = None
        self._recipes: dict[str, Recipe] = {}
        self._given: dict[int, tuple[object, Recipe]] = {}

    @property
    def place(self) -> Path:
        """Where the models lie."""
        if self._place is None:
            self._temporary = TemporaryDirectory(prefix="assay-trained-")
            self._place = Path(self._temporary.name)
        return self._place

    def train(
        self, given: str | Trainer | Recipe, sample: Sample, seed: int, dev: Sample | None = None
    ) -> tuple[str, bool]:
        """The name of the model that the recipe makes of this sample, and whether it was trained only now."""
        recipe = self._recipe(given)
        digest = digest_of(recipe.settings, sample.digest, seed, None if dev is None else dev.digest)
        self._recipes[digest] = recipe
        path = self.place / digest
        if recipe.is_made(path):
            return f"{NAME}{digest}", False
        try:
            self.place.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadFile(f"{self.place} cannot be written: {error.strerror or error}.") from error
        with _alone(path):
            if recipe.is_made(path):  # by the process that this one waited for
                return f"{NAME}{digest}", False
            log.info("training %s, seed %d", recipe.settings.get("trainer", "a model"), seed)
            texts, labels = _labelled(sample)
            recipe.make(texts, labels, seed, path, dev=None if dev is None else _labelled(dev))
        return f"{NAME}{digest}", True

    def train_side_by_side(self, given: Sequence[SideBySideRecipe], sample: Sample, seed: int) -> None:
        """Recipes of one kind, those of which are not there yet trained as one; `train` then finds them."""
        places = {self._place_of(one, sample, seed): one for one in given}
        self.place.mkdir(parents=True, exist_ok=True)
        with ExitStack() as stack:
            for path in sorted(
                places
            ):  # in the same order in all processes, so that none waits for another's other lock
                stack.enter_context(_alone(path))
            missing = {path: one for path, one in places.items() if not one.is_made(path)}
            if missing:
                first, *_ = missing.values()
                log.info("training %d of %s side by side, seed %d", len(missing), first.settings.get("trainer"), seed)
                texts, labels = _labelled(sample)
                first.make_all(list(missing.values()), texts, labels, seed, list(missing))

    def _place_of(self, recipe: Recipe, sample: Sample, seed: int) -> Path:
        return self.place / digest_of(recipe.settings, sample.digest, seed, None)

    def _recipe(self, given: str | Trainer | Recipe) -> Recipe:
        """One recipe for each trainer, since a recipe in memory knows what it has made."""
        if isinstance(given, str):
            return recipe(given)
        if id(given) not in self._given:
            self._given[id(given)] = (given, recipe(given))
        return self._given[id(given)][1]

    def open(self, digest: str) -> TextModel:
        """A model by its digest, as the recipe opens it."""
        if digest not in self._recipes:
            raise BadInput(f"no model {digest} was trained here; a conversation gets its name from Train.")
        return self._recipes[digest].open(self.place / digest)


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Only one process trains a model; the kernel lets go of the lock of one that dies, and another goes on.

    The lock's file stays, empty: who deleted it could delete that of a process that has just begun to wait.
    """
    lock = FileLock(path.with_name(f".{path.name}.lock"))
    try:
        lock.acquire(blocking=False)
    except Timeout:
        log.info("waiting for the process that trains %s", path)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


def digest_of(*parts: Any) -> str:
    """Short enough for the name of a directory, long enough to be unique."""
    return blake2b(json.dumps(parts, sort_keys=True, default=str).encode(), digest_size=12).hexdigest()


def _labelled(sample: Sample) -> tuple[list[Row], list[str]]:
    """The strings and the label of every row."""
    rows = list(sample.require_labels())
    return [row.strings for row in rows], [str(row.label) for row in rows]
