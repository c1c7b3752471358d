"""The labelled texts that a model was trained on, as a parameter of methods that search them.

    TrainingSet.of([("a fine film", "positive"), ...])      TrainingSet.of("train.csv", label="label")
    TrainingSet.of(["Paris is the capital of France."])     TrainingSet.of("texts.txt")       for language models

Two are equal when their rows are, wherever these were read from, and an explanation writes one down as its size and a
digest: whoever makes a method from what was written has to give the texts again.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any

from assay.errors import AssayError, BadInput, UnknownName
from assay.text.sample import Sample

_WRITTEN = re.compile(r"\d+ (labelled )?texts, [0-9a-f]{12}")
_LABEL = "label"  # the column of labels, unless it is named


class TrainingSet:
    """A sample of texts; `unlabelled` is why there are no labels where a table has no column of them."""

    def __init__(self, sample: Sample, unlabelled: AssayError | None = None) -> None:
        self.sample, self._unlabelled = sample.require_rows(), unlabelled

    @cached_property
    def labelled(self) -> bool:
        return all(row.label is not None for row in self.sample)

    def require_labels(self) -> TrainingSet:
        """This training set, or an error where a row has no label."""
        if self._unlabelled is not None:
            raise self._unlabelled
        self.sample.require_labels()
        return self

    @classmethod
    def of(
        cls, given: Any, *, text: str | None = None, pair: str | None = None, label: str | None = None
    ) -> TrainingSet:
        """From whatever Sample.of reads; a table without a named column of labels has them in `label`."""
        if isinstance(given, TrainingSet):
            return given
        if isinstance(given, Sample):
            return cls(given)
        if isinstance(given, str) and _WRITTEN.fullmatch(given):
            raise BadInput(
                f"only the size and the digest of this training set were written down ({given}); give it again."
            )
        named = label if label is not None or isinstance(given, list | tuple) else _LABEL
        rows = list(given) if isinstance(given, tuple) else given
        try:
            return cls(Sample.of(rows, text=text, pair=pair, label=named))
        except UnknownName as error:
            if label is not None or named is None:
                raise
            return cls(Sample.of(rows, text=text, pair=pair), error)  # what else is wrong is said first

    def __len__(self) -> int:
        return len(self.sample)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TrainingSet) and self.sample.digest == other.sample.digest

    def __hash__(self) -> int:
        return hash(self.sample.digest)

    def __deepcopy__(self, memo: dict[int, Any]) -> TrainingSet:
        return self  # nothing of it changes, and its rows may be many

    def __str__(self) -> str:
        kind = "labelled texts" if self.labelled else "texts"
        return f"{len(self)} {kind}, {self.sample.digest[:12]}"

    __repr__ = __str__
