"""The result of an audit: what was found text by text, what it comes to, and each question answered in a sentence."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from assay.errors import BadInput
from assay.statistics.intervals import Estimate, difference, estimate
from assay.views.say import counted
from assay.workflows.audit.audited import AuditedText
from assay.workflows.audit.summary import FAR, Correlation, Group, column, groups

if TYPE_CHECKING:
    import pandas as pd

BINS = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.0))  # of the largest weight, as in the paper's figures
# From which mean of Kendall's tau on two rankings count as alike; 1 is the same order, 0 unrelated ones.
_ALIKE, _SOMEWHAT, _BARELY = 0.7, 0.4, 0.1


@dataclass(frozen=True)
class Finding:
    """A question about the attention, a word or two, and the numbers in a sentence."""

    question: str
    short: str
    sentence: str

    def __str__(self) -> str:
        return f"{self.question} {self.short}. {self.sentence}"


@dataclass(frozen=True, eq=False, kw_only=True)
class AttentionAudit:
    """The attention of a model on some texts, put to the tests of Jain and Wallace (2019)."""

    texts: tuple[AuditedText, ...]
    model: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.texts)

    @cached_property
    def groups(self) -> list[Group]:
        """All texts, then those of each predicted label, the most frequent first."""
        return groups(self.texts)

    @property
    def all(self) -> Group:
        return self.groups[0]

    @property
    def epsilon(self) -> float:
        return float(self.settings["epsilon"])

    @property
    def few(self) -> bool:
        return self.all.jsd.few

    @property
    def accuracy(self) -> float | None:
        """The share of texts whose label was predicted, where the labels were given."""
        known = [one.label == one.gold for one in self.texts if one.gold is not None]
        return float(np.mean(known)) if known else None

    def binned(self) -> list[tuple[tuple[float, float], list[AuditedText]]]:
        """The texts by their largest weight."""
        last = BINS[-1][1]
        return [
            (b, [t for t in self.texts if b[0] <= t.max_attention < b[1] or b[1] == last <= t.max_attention])
            for b in BINS
        ]

    def answers(self) -> list[Finding]:
        return list(_answers(self))

    def examples(self, count: int = 2) -> list[AuditedText]:
        """The texts whose other attention is furthest away, of those that fit on a line or two."""
        fit = [one for one in self.texts if 6 <= len(one.text) <= 40] or list(self.texts)
        return sorted(fit, key=lambda one: -one.jsd)[:count]

    def to_dict(self) -> dict[str, Any]:
        """Plain data that `from_dict` reads back; summary and answers are for those who only look."""
        return {
            "model": self.model,
            "settings": dict(self.settings),
            "warnings": list(self.warnings),
            "answers": [vars(answer) for answer in self.answers()],
            "summary": [group.to_dict() for group in self.groups],
            "accuracy": self.accuracy,
            "texts": [one.to_dict() for one in self.texts],
        }

    def to_json(self) -> str:
        return json.dumps(self.to_dict(), ensure_ascii=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Self:
        texts = tuple(AuditedText.from_dict(one) for one in data["texts"])
        return cls(texts=texts, model=data["model"], settings=dict(data["settings"]), warnings=tuple(data["warnings"]))

    @classmethod
    def from_json(cls, string: str) -> Self:
        try:
            return cls.from_dict(json.loads(string))
        except (KeyError, TypeError, ValueError) as error:
            raise BadInput(f"this is no audit of attention that Assay wrote ({error}).") from error

    def to_frame(self) -> pd.DataFrame:
        """One row per text; a tau that is not defined is NaN."""
        import pandas as pd  # slow to import, and only wanted here

        return pd.DataFrame([one.line for one in self.texts])

    def to_html(self) -> str:
        """A page that stands by itself."""
        from assay.workflows.audit.page import page  # the page knows the result; here only the shortcut for users

        return page(self)

    def __str__(self) -> str:
        return "\n".join([*map(str, self.answers()), *(f"warning: {warning}" for warning in self.warnings)])


def _answers(audit: AttentionAudit) -> Iterator[Finding]:
    taus = audit.all.correlations
    yield _alike(
        "Do attention and gradients rank the words alike?", taus["attention_gradient"], taus["random_gradient"]
    )
    yield _alike("Do attention and leave-one-out rank them alike?", taus["attention_loo"], taus["random_loo"])
    yield _closer(audit, taus["gradient_loo"])
    yield _moved(audit)
    yield _others(audit)


def _alike(question: str, found: Correlation, chance: Correlation) -> Finding:
    if found.mean is None:
        return Finding(question, "Cannot be answered", "Kendall's τ is defined for none of the texts.")
    assert found.significant is not None
    floor = "" if chance.mean is None else f" A random attention has {_number(chance.mean.value)}."
    gone = f" It is not defined for {found.undefined} more." if found.undefined else ""
    return Finding(
        question,
        _degree(found.mean),
        f"Kendall's τ is {_shown(found.mean)} on average, standard deviation {found.std:.2f}, and significant "
        f"(p ≤ .05) in {found.significant.value:.0%} of {found.mean.n} texts.{gone}{floor}",
    )


def _degree(tau: Estimate) -> str:
    if tau.few:
        return "Too few texts to say"
    if tau.low >= _ALIKE:
        return "Yes"
    if tau.low >= _SOMEWHAT:
        return "Mostly"
    return "Weakly" if tau.low >= _BARELY else "Hardly" if tau.low > 0 else "No"


def _closer(audit: AttentionAudit, found: Correlation) -> Finding:
    """The two measures of importance are the yardstick for each other."""
    question = "Do gradients and leave-one-out agree better with each other?"
    pairs = [(one.taus["gradient_loo"], one.taus["attention_gradient"]) for one in audit.texts]
    both = np.array([(a.value, b.value) for a, b in pairs if a and b]).reshape(-1, 2)
    gain = difference(both[:, 0], both[:, 1])
    if gain is None or found.mean is None:
        return Finding(question, "Cannot be answered", "Kendall's τ is defined for none of the texts.")
    short = "Too few texts to say" if gain.few else {True: "Yes", False: "No", None: "About the same"}[gain.above]
    taus = f"Their τ is {_shown(found.mean)}; the difference to attention and gradients is {_shown(gain, '+')}"
    return Finding(question, short, f"{taus}, over the {gain.n} texts that have both.")


def _moved(audit: AttentionAudit) -> Finding:
    """Of all texts, and of those with a clear peak: how many answer as before when the weights are shuffled."""
    tvd = audit.all.median_tvd
    still = (column(audit.texts, "median_tvd") <= audit.epsilon).astype(np.float64)
    peaks = column(audit.texts, "max_attention") >= 0.5
    share = estimate(1 - still)
    assert share is not None
    clear = ""
    if count := int(peaks.sum()):
        whose = f"Where one word has half of the attention or more ({counted(count, 'text')})"
        clear = f" {whose}: in {still[peaks].mean():.0%}."
    return Finding(
        "Does the answer change when the attention is shuffled?",
        "Too few texts to say" if share.few else _for(share.low, share.high),
        f"The median permutation moves it by {_shown(tvd)} (TVD, 0 to 1); by no more than {audit.epsilon:g} in "
        f"{still.mean():.0%} of the texts.{clear}",
    )


def _others(audit: AttentionAudit) -> Finding:
    jsd, far = audit.all.jsd, audit.all.far
    short = "Too few texts to say" if far.few else _for(far.low, far.high)
    return Finding(
        "Is there a very different attention with the same answer?",
        short,
        f"In {far.value:.0%} [{far.low:.0%}, {far.high:.0%}] of the texts one was found with a JSD above {FAR} (the "
        f"most is 0.69) that moves the answer by no more than {audit.epsilon:g}; the mean JSD is {_shown(jsd)}.",
    )


def _for(low: float, high: float) -> str:
    """A share of the texts in words, from the ends of its interval."""
    return "For most texts" if low > 0.5 else "For few texts" if high < 0.25 else "For some texts"


def _shown(found: Estimate, sign: str = "") -> str:
    return f"{_number(found.value, sign)} [{_number(found.low, sign)}, {_number(found.high, sign)}]"


def _number(value: float, sign: str = "") -> str:
    """Never a zero with a minus."""
    return f"{round(value, 2) + 0.0:{sign}.2f}".replace("-", "−")
