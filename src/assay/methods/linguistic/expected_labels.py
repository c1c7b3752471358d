"""The labels of a model that a probe's expected answer stands for, and answers that are the same words.

A probe says "entailment"; the model's label may be ENTAILMENT, or one that the user names (entailment=LABEL_2).
"non-entailment" stands for every other label, as in the evaluation of HANS.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from assay.errors import BadInput, UnknownName

_NOT = re.compile(r"^(?:non|not)-")
_ARTICLES = re.compile(r"\b(a|an|the)\b")


@dataclass(frozen=True)
class ExpectedLabels:
    """The labels of a model, and what each is called by probes."""

    labels: tuple[str, ...]
    known: Mapping[str, str]

    @classmethod
    def of(cls, labels: tuple[str, ...], aliases: Mapping[str, Sequence[str]], given: Sequence[str]) -> ExpectedLabels:
        """`aliases` are those of the suite; `given` are the user's own, written expected=LABEL."""
        own = {_plain(label): label for label in labels}
        for name, others in aliases.items():
            found = next((own[_plain(other)] for other in others if _plain(other) in own), None)
            if found is not None:
                own.setdefault(_plain(name), found)
        return cls(labels, {**own, **dict(_given(labels, one) for one in given)})

    def names(self, expected: str) -> tuple[str, ...]:
        """The labels that are right."""
        name = _plain(expected)
        if name in self.known:
            return (self.known[name],)
        base = _NOT.sub("", name)
        if base != name and base in self.known:
            return tuple(label for label in self.labels if label != self.known[base])
        raise BadInput(
            f"a probe expects {expected!r}, which is no label of the model ({', '.join(self.labels)}); say which "
            f"one is meant: labels={expected}=LABEL."
        )


def _given(labels: tuple[str, ...], pair: str) -> tuple[str, str]:
    name, equals, label = pair.partition("=")
    if not equals:
        raise BadInput(f"labels are written expected=LABEL, not {pair!r}.")
    if label not in labels:
        raise UnknownName.of("label", label, labels)
    return _plain(name), label


def _plain(label: str) -> str:
    """In lower case, with hyphens, and "not" as "non"."""
    return _NOT.sub("non-", re.sub(r"[\s_]+", "-", label.strip().lower()))


def same_answer(one: str, other: str) -> bool:
    """Whether two answers are the same but for case, articles and punctuation, as SQuAD compares them."""
    return _words(one) == _words(other)


def _words(answer: str) -> list[str]:
    return re.sub(r"[^\w\s]", "", _ARTICLES.sub(" ", answer.lower())).split()
