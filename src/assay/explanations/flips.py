"""What a search for another answer has in common: the goal, when it is reached, and the explanation it ends with.

untargeted    the model predicts another label than of the whole text
targeted      it predicts the label that the user explains `against`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from assay.errors import BadInput, UnknownName
from assay.explanations.case import Case
from assay.explanations.edits import Edit, Edits
from assay.explanations.word_versions import WordVersion
from assay.questions.base import Conversation
from assay.questions.predict import Predict
from assay.statistics.arrays import Floats
from assay.text.text import Field, Text


class FoundVersion(Protocol):
    """What a search has found: words in the places of others (WordVersion), or a text written anew (Rewritten)."""

    @property
    def chances(self) -> tuple[float, ...]: ...

    def edit(self, flips: bool) -> Edit: ...


@dataclass(frozen=True)
class Goal:
    """A text whose predicted label shall change, and the label that it shall get; None where any other will do."""

    case: Case
    whole: WordVersion
    target: int
    wanted: int | None
    multi_label: bool

    @property
    def text(self) -> Text:
        return self.whole.whole

    def reached(self, version: FoundVersion) -> bool:
        """Whether the model says what it shall."""
        return bool(flips(np.array([version.chances]), self.target, self.wanted, self.multi_label)[0])

    def left(self, version: FoundVersion) -> float:
        """How far the version is from the goal: the probability that has to go, or that is missing."""
        return version.chances[self.target] if self.wanted is None else 1 - version.chances[self.wanted]

    def edits(
        self, flipped: Sequence[FoundVersion], nearest: FoundVersion, words: Sequence[str], **facts: Any
    ) -> Edits:
        """The versions that reach the goal; else the nearest attempt, and a warning that says so."""
        edits = tuple(version.edit(flips=True) for version in flipped)
        warnings = () if edits else (self._missed(nearest),)
        case = replace(self.case, text=self.text)
        known = {"flipped": bool(edits), "goal": {"wanted": self.wanted}, "random_words": list(words), **facts}
        attempt = None if edits else nearest.edit(flips=False)
        return Edits(case, edits, form="versions", nearest=attempt, facts=known, warnings=warnings)

    def _missed(self, nearest: FoundVersion) -> str:
        before, after = 1 - self.left(self.whole), 1 - self.left(nearest)
        reached = f"{before:.2f} before, {after:.2f} in the nearest attempt"
        what = "no label but the predicted one" if self.wanted is None else "not the wanted label"
        return f"no version was found that changes the prediction: {what} was reached ({reached})"


def flips(chances: Floats, target: int, wanted: int | None, multi_label: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """For each row of probabilities whether it is the goal; where labels do not exclude each other, from 0.5 on."""
    if multi_label:
        return np.asarray(chances[:, target] < 0.5 if wanted is None else chances[:, wanted] >= 0.5)
    best = chances.argmax(axis=1)
    return np.asarray(best != target if wanted is None else best == wanted)


def wanted_label(e: Edits) -> int | None:
    """The label that the search looked for; None where any other than the predicted one was good."""
    goal: Mapping[str, int | None] = e.facts.get("goal", {})
    return goal.get("wanted")


def fresh_flips(e: Edits) -> Conversation[np.ndarray[Any, np.dtype[np.bool_]]]:
    """For each version whether it reaches the goal of the search, by a new forward pass."""
    if not e.edits:
        return np.zeros(0, dtype=bool)
    answers = yield Predict(*(version_text(e, edit) for edit in e.edits))
    return flips(answers.probabilities, e.target, wanted_label(e), answers.multi_label)


def version_text(e: Edits, edit: Edit) -> Text:
    """A version as a text whose words nobody explains."""
    fields = zip(e.text.read.fields, edit.strings, strict=True)
    return Text(tuple(Field(field.name, string, ()) for field, string in fields), ())


def goal_of(case: Case, field: str | None, method: str) -> Conversation[Goal]:
    """The goal of a search that starts from this text; an error where there is no label to change."""
    text = in_one_field(case.text, field)
    if any(part.part == "note" for part in text.fields):
        raise BadInput(
            f"{method} changes the label that a classifier predicts; this model answers freely (a span, a tag, a "
            "word), so there is no other label to reach."
        )
    answers = yield Predict(text)
    chances = answers.probabilities[0]
    predicted = chances[case.target] >= 0.5 if answers.multi_label else int(chances.argmax()) == case.target
    if not predicted:
        raise BadInput(
            f"{method} starts from what the model predicts, and of {str(text)[:40]!r} it predicts something else than "
            "the given target; leave the target out, and name the label to reach by `against`."
        )
    whole = WordVersion.of(text).with_chances(chances)
    return Goal(case, whole, case.target, case.against, answers.multi_label)


def in_one_field(text: Text, name: str | None) -> Text:
    """Only the words of one field may change: of the named one, or of the last that has words."""
    own = [field.name for field in text.explained if field.spans]
    if name is not None and name not in own:
        raise UnknownName.of("field", name, own)
    return Text(text.fields, (name or own[-1],))
