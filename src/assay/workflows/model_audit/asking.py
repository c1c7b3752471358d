"""What every part of an audit asks with: the model, texts drawn from the file, and how much may be asked.

The sizes bound the work of each part by the number of texts, of probes and of words, not by a clock, so that the same
audit asks the same on every machine. Texts are drawn once, by the seed: the parts see the first of the same texts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from assay.engine.engine import Engine
from assay.errors import AssayError, BadInput
from assay.explanations.base import Explanation
from assay.explanations.behavior import Behavior
from assay.explanations.reading import label_index
from assay.models import TextModel
from assay.questions.base import Conversation
from assay.questions.cases import Cases
from assay.text.example import Example
from assay.text.sample import Sample
from assay.verbs import describe

_SHOWN = 5  # labels of texts


@dataclass(frozen=True)
class AuditSizes:
    """How much each part may ask."""

    texts: int  # for the answers by group, and for the small changes
    probes: int  # of each case of a suite
    words: int  # that a probe of layers is trained on
    steps: int  # that it is trained for
    explained: int  # words of the texts whose explanations are tested, all together
    reduced: int  # words of the texts that are reduced
    attacked: int  # words of the texts whose words are exchanged
    beam: int  # of the search for short versions


FULL = AuditSizes(
    texts=2_000, probes=100, words=20_000, steps=200, explained=1_000, reduced=4_000, attacked=2_000, beam=5
)
QUICK = AuditSizes(texts=200, probes=12, words=1_200, steps=60, explained=90, reduced=420, attacked=200, beam=1)


@dataclass(frozen=True, eq=False)
class AuditContext:
    """The model, the sample, and the columns of it by which texts are told apart."""

    engine: Engine
    sample: Sample
    sizes: AuditSizes
    groups: tuple[str, ...] = ()
    seed: int = 0
    progress: bool | None = False

    @property
    def model(self) -> TextModel:
        return self.engine.model

    @cached_property
    def rows(self) -> list[Example]:
        """The texts that were drawn, with the columns of the groups; those that cannot be read are passed over."""
        drawn = self.sample.subsample(self.sizes.texts, self.seed)
        return [row for row in drawn.source.rows(extra=self.groups) if row.error is None]

    @property
    def labelled(self) -> bool:
        return bool(self.rows) and all(row.label is not None for row in self.rows)

    @cached_property
    def _read(self) -> list[Exception | None]:
        """Of each row why the model cannot read it: a prompt beyond its window, a text without a [MASK]."""
        return [outcome.error for outcome in self.engine.run(_read(row) for row in self.rows)]

    @property
    def unread(self) -> list[Exception]:
        return [error for error in self._read if error is not None]

    @property
    def readable(self) -> list[Example]:
        """The rows that the model can read; an error where it can read none."""
        self.require_readable()
        return [row for row, error in zip(self.rows, self._read, strict=True) if error is None]

    def require_readable(self) -> None:
        """An error where the model can read none of the texts."""
        if all(self._read):
            raise self.unread[0]

    def require_labels(self) -> None:
        """An error where the texts have no labels, or none that the model gives."""
        if not self.labelled:
            raise BadInput("the texts have no labels; name the column of the right ones: --label-column C")
        if not any(self.label(row) in self.model.labels for row in self.rows):
            given = ", ".join(list(dict.fromkeys(str(row.label) for row in self.rows))[:_SHOWN])
            raise BadInput(
                f"the labels of the texts ({given}) are none of the model's ({', '.join(self.model.labels)}); of a "
                "function they are named by BlackBox(function, labels=[...])"
            )

    def label(self, row: Example) -> str:
        """The label of a row as the model calls it; as it stands where the model has no names for its answers."""
        assert row.label is not None
        try:
            return self.model.labels[label_index(self.model, row.label)]
        except AssayError:
            return row.label

    def some(self, words: int) -> list[Example]:
        """The first rows with no more than so many words together, and at least one."""
        chosen: list[Example] = []
        read = 0
        for row in self.readable:
            read += sum(len(string.split()) for string in row.strings)
            if chosen and read > words:
                break
            chosen.append(row)
        return chosen

    def sample_of(self, rows: Sequence[Example], columns: Sequence[dict[str, str]] | None = None) -> Sample:
        """These rows as a sample, with further columns; without columns they have no labels either."""
        pairs = any(len(row.strings) > 1 for row in rows)
        names = ("text", "pair")[: 1 + pairs]
        records = [dict(zip(names, row.strings, strict=True)) for row in rows]
        if columns is None:
            return Sample.of(records, text="text", pair="pair" if pairs else None, name=self.sample.name)
        made = [{**record, **more} for record, more in zip(records, columns, strict=True)]
        return Sample.of(made, text="text", pair="pair" if pairs else None, label="label", name=self.sample.name)

    def described(self, method: str, sample: Any = None, **settings: Any) -> Any:
        """What a method says of a sample, or of the model alone."""
        same: dict[str, Any] = {"engine": self.engine, "seed": self.seed, "progress": self.progress}
        found: Explanation = describe(self.model, sample, method, **same, **settings)
        return found

    @cached_property
    def unlabelled(self) -> Behavior:
        """What changes of the texts do that should do nothing; two parts read it."""
        if "continuation" in self.model.fields:
            raise BadInput("the model goes on with a text, and after another text another sequel is no mistake")
        found: Behavior = self.described("behavioral_probe", self.sample_of(self.rows))
        return found


def _read(row: Example) -> Conversation[Any]:
    return (yield Cases([row.text]))
