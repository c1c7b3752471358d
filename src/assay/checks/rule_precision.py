"""Rule precision: how often a rule of words changes the answer to texts that were not used to find it.

    mean over rules of   |texts x that r applies to with argmax f(r(x)) other than argmax f(x)| / |texts r applies to|

The flip rate of Ribeiro, Singh and Guestrin (2018), doi:10.18653/v1/P18-1079, section 4, by fresh forward passes on the
texts that the search set aside; the survey (section 15.3) asks for no less of any rule. Higher is better. Beside it the
same words are replaced, in the same places of the same texts, by random words of a vocabulary: a rule passes that does
more than any other word there would. The facts `low` and `high` are the exact 95 % interval of all texts together.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.errors import BadInput
from assay.explanations.flips import flips, in_one_field
from assay.explanations.rules import Rule, Rules
from assay.questions.base import Conversation
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.predict import Predict
from assay.registry.cards import check
from assay.registry.measured import Measured
from assay.statistics.exact import Share
from assay.text.example import text_of
from assay.text.text import Row
from assay.text.word_rules import WordRule


@check(
    title="Rule precision",
    better="higher",
    paper="doi:10.18653/v1/P18-1079",
    needs=(Predict,),
    sensitive_to="how many unseen texts a rule applies to; models that any change flips",
    reads=Rules,
)
@dataclass(frozen=True, kw_only=True)
class RulePrecision:
    """How often the rules change the answer, each rule counting as much as any other."""

    texts: int = 100

    def __post_init__(self) -> None:
        if self.texts < 1:
            raise BadInput(f"rule_precision needs texts >= 1, not {self.texts}.")

    def left_out(self, e: Rules) -> str | None:
        return "rules that change no words" if any(rule.change is None for rule in e.rules) else None

    def examine(self, e: Rules) -> Conversation[Measured]:
        tried = [rule for rule in e.rules if rule.texts]
        if not tried:  # no rule was found, or none that applies to a text that was set aside
            return Measured(0.0, {"rules": 0.0, "texts": 0.0, "low": 0.0, "high": 1.0})
        field = str(e.facts["changes"]["field"])
        flipped: list[list[bool]] = yield Each(self._rule(rule, field) for rule in tried)
        every = [one for own in flipped for one in own]
        share = Share.exact(sum(every), len(every))
        known = {"rules": float(len(tried)), "texts": float(len(every)), "low": share.low, "high": share.high}
        return Measured(float(np.mean([np.mean(own) for own in flipped])), known)

    def _rule(self, rule: Rule, field: str) -> Conversation[list[bool]]:
        """For each text that was set aside whether the rule changes the answer to it."""
        change, pairs = rule.change, zip(rule.texts, rule.numbers["places"], strict=True)
        assert change is not None
        chosen = list(pairs)[: self.texts]
        found: list[bool] = yield Each(_flips(strings, places, change, field) for strings, places in chosen)
        return found


def _flips(strings: Row, places: list[int], change: WordRule, field: str) -> Conversation[bool]:
    (reading,) = yield Cases([text_of(strings)])
    case, text = reading.case, in_one_field(reading.case.text, field)
    answers = yield Predict(text, change.applied(text, places))
    target = int(answers.argmax()[0])
    return bool(flips(answers.probabilities[1:], target, case.against, answers.multi_label)[0])
