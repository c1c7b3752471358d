"""The rows whose labels look wrong, each with the label that is suggested, why, and the words that speak for it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Self

import numpy as np

from assay.errors import AssayError
from assay.explanations.token_scores import TokenScores
from assay.models import TextModel
from assay.statistics.arrays import Floats, Ints
from assay.text.example import text_of
from assay.text.labelled import LabelledTexts
from assay.text.text import Row, TextLike
from assay.verbs import explain
from assay.workflows.mend_labels.signs import Signs

_HIGH = 0.8  # a row that looks more suspicious than this share of all rows has the sign
_WORDS = 3
_WITH_WORDS = 200  # suspects whose words are looked for: those that people look at first


@dataclass(frozen=True)
class Suspect:
    """One row; `row` counts the rows of the data from 1."""

    row: int
    strings: Row
    given: str
    suggested: str
    suspicion: float
    chance: float  # of the suggested label, by the model that was trained without the row
    signs: tuple[int, int]  # how many of how many
    why: str
    words: tuple[str, ...] = ()

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        tuples = {name: tuple(data[name]) for name in ("strings", "signs", "words")}
        return cls(**{**data, **tuples})

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)


def suspects(data: LabelledTexts, rows: Sequence[int], labels: Sequence[str], signs: Signs, most: int) -> list[Suspect]:
    """Rows that a model trained without them reads otherwise, the most suspicious first; at most so many.

    `rows` are the numbers of the texts in the data as it was given.
    """
    given = np.array([labels.index(label) for label in data.labels])
    said, suspicion, places = signs.out_of_fold.argmax(axis=1), signs.suspicion(given), signs.places(given)
    order = [i for i in np.argsort(-suspicion, kind="stable").tolist() if said[i] != given[i]]
    others = _same_texts(data)
    found = []
    for i in order[:most]:
        high = [bool(one[i] >= _HIGH) for one in places]
        label, chance = labels[said[i]], float(signs.out_of_fold[i, said[i]])
        why = "; ".join(_reasons(i, data, rows, signs, places, label, chance, others))
        about = (suspicion[i].item(), chance, (sum(high), len(high)))
        found.append(Suspect(rows[i], data.strings[i], data.labels[i], label, *about, why))
    return found


def _reasons(
    i: int,
    data: LabelledTexts,
    rows: Sequence[int],
    signs: Signs,
    places: Sequence[Floats],
    label: str,
    chance: float,
    others: Mapping[Row, list[int]],
) -> Iterator[str]:
    yield f"a model trained without it says “{label}” ({chance:.2f})"
    own = float(signs.own[i])
    yield f"the model gives its label {own:.2f}" + (", having learned it" if own > 0.5 else "")
    if len(places) > 2 and places[2][i] >= _HIGH:
        stronger = min(99, int(100 * places[2][i]))  # no row is stronger than all
        yield f"its pull on the model is stronger than that of {stronger} % of the rows"
    if twins := [j for j in others.get(data.strings[i], ()) if j != i and data.labels[j] != data.labels[i]]:
        yield f"row {rows[twins[0]]} has the same text and the label “{data.labels[twins[0]]}”"


def _same_texts(data: LabelledTexts) -> dict[Row, list[int]]:
    found: dict[Row, list[int]] = {}
    for i, strings in enumerate(data.strings):
        found.setdefault(strings, []).append(i)
    return found


def with_words(found: Sequence[Suspect], fold: Mapping[int, int], models: Sequence[TextModel]) -> list[Suspect]:
    """The first suspects with the words that make the model that was trained without them say the suggested label."""
    words: dict[int, tuple[str, ...]] = {}
    for number, label in dict.fromkeys((fold[one.row], one.suggested) for one in found[:_WITH_WORDS]):
        some = [one for one in found[:_WITH_WORDS] if (fold[one.row], one.suggested) == (number, label)]
        texts: list[TextLike] = [text_of(one.strings) for one in some]
        maps = explain(models[number], texts, "leave_one_out", target=label, errors="keep", progress=False)
        words |= {one.row: _strongest(e) for one, e in zip(some, maps, strict=True)}
    return [Suspect(**{**vars(one), "words": words.get(one.row, ())}) for one in found]


def _strongest(e: TokenScores | AssayError) -> tuple[str, ...]:
    """The words that speak for the label, the strongest first; none of a text that cannot be explained."""
    if isinstance(e, AssayError):
        return ()
    order: Ints = np.argsort(-e.scores, kind="stable")
    return tuple(dict.fromkeys(e.words[i] for i in order[:_WORDS].tolist() if e.scores[i] > 0))
