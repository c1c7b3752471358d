"""SEAR: rules of words, such as "film -> movie", that change what the model says to many texts.

    argmax over R, |R| <= k, of   sum_x  max over r in R of  1[ argmax f(r(x)) differs from argmax f(x) ]

Ribeiro, Singh and Guestrin (2018), Semantically Equivalent Adversarial Rules for Debugging NLP Models,
doi:10.18653/v1/P18-1079; survey section 15.1. Adversarial paraphrases of one half of the texts, by SEA or by any method
that returns Edits (`of`), give the rules: each changed part, alone or beside one word, by the word or by its part of
speech. A rule is tried wherever it applies. Rules that change the answer to fewer than `flips` texts go, and so do
those after which more than a tenth of the texts no longer means the same: by the paraphraser (log S below `cut`, -7.15
as in the released code), or where the method has none by a sentence encoder. Of the others up to `rules` are chosen
greedily, each time the one that changes the answer to most texts that no rule before it does (submodular: at least
1 - 1/e of the best). Each is then tried on the other half of the texts, which were not used: that rate has an exact
interval.

Where we depart: their data are larger, and a rule needs six flips; `flips` is 3 here. Parts of speech stand beside the
changed words, not in their place. Texts count once each, where the paper weighs them by S.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from assay.errors import BadInput
from assay.explanations.edits import Edits
from assay.explanations.flips import in_one_field
from assay.explanations.reading import Explains, Reading, reading_of
from assay.explanations.rules import Rule, Rules
from assay.explanations.sample_explanation import SampleId
from assay.methods.rules.applications import AppliedRule, RuleText, RuleTexts
from assay.methods.rules.changes import changed_parts, neighbours, rules_of
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.predict import Predict
from assay.questions.randomness import Randomness
from assay.questions.replacements import VocabularyWords
from assay.questions.sentence_similarity import ENCODER, LAYER, sentence_similarities
from assay.questions.tags import tags_of
from assay.registry.cards import method
from assay.registry.nested import ThroughAnother
from assay.registry.protocols import JudgesMeaning
from assay.registry.survey import Row, Uses
from assay.statistics.exact import Share
from assay.statistics.greedy_cover import greedy_picks
from assay.text.sample import Sample
from assay.text.text import Text
from assay.text.word_rules import WordRule

_JUDGED = 10  # applications of a rule whose meaning is looked at
_LOST = 0.1  # of them so many may mean something else
_KEPT = 200  # texts that a rule keeps for checks
_EXAMPLES = 3
_RANDOM_WORDS = 64
_FEW = 20


@method(
    title="SEAR",
    row=Row.RULES,
    uses=Uses.BLACK_BOX,
    paper="doi:10.18653/v1/P18-1079",
    section="15.1",
    marks="M",
    needs=(Predict,),
    returns=Rules,
)
@dataclass(frozen=True, kw_only=True)
class Sear(ThroughAnother[Edits]):
    """Changes of a word or a few that turn the answers to many texts."""

    inner: ClassVar[type[Edits]] = Edits  # what `of` must return

    of: str | Explains[Edits] = "sea"
    rules: int = 10
    flips: int = 3
    length: int = 3
    candidates: int = 500
    cut: float = -7.15
    encoder: str = ENCODER
    layer: int = LAYER
    similar: float = 0.94
    tagger: str | None = "tagger"
    field: str | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if min(self.rules, self.flips, self.length, self.candidates) < 1 or self.cut > 0 or not -1 <= self.similar <= 1:
            raise BadInput("sear needs rules, flips, length and candidates >= 1, cut <= 0, and similar from -1 to 1.")

    def describe(self, sample: Sample) -> Conversation[Rules]:
        readings: list[Reading] = yield Each(reading_of(row, sample) for row in sample)
        texts: list[RuleText] = yield Each(self._read(reading) for reading in readings)
        generator = yield Randomness(sample)
        order, half = generator.permutation(len(texts)).tolist(), (len(texts) + 1) // 2
        seen, unseen = sorted(order[:half]), sorted(order[half:])
        proposed = yield Each(self._proposals(readings[i], texts[i], sample, i) for i in seen)
        searched, held = (RuleTexts([texts[i] for i in part], self.tagger) for part in (seen, unseen))
        chosen = yield from self._chosen(Counter(rule for own in proposed for rule in own), searched)
        tried: list[AppliedRule] = yield Each(held.apply(one.rule) for one in chosen)
        pool = yield VocabularyWords(_RANDOM_WORDS, int(generator.integers(2**31))).sent_to(self.encoder)
        rules = tuple(_rule(one, two, searched, held) for one, two in zip(chosen, tried, strict=True))
        edited = [field.name for field in texts[0].text.fields].index(texts[0].text.focus[0])
        facts: dict[str, Any] = {
            "searched": len(seen),
            "held_out": len(unseen),
            "with_edits": sum(map(bool, proposed)),
            "changed": len({i for one in chosen for i in one.flipped}),
            "held_out_changed": len({i for one in tried for i in one.flipped}),
            "changes": {"field": texts[0].text.focus[0], "edited": edited},
            "random_words": pool,
        }
        return Rules(SampleId.of(sample), rules, facts=facts, warnings=tuple(self._warnings(rules, facts)))

    def _read(self, reading: Reading) -> Conversation[RuleText]:
        """The text with the field that changes, and what the model says to it."""
        case = reading.case
        text = in_one_field(case.text, self.field)
        answers = yield Predict(text)
        return RuleText(text, int(answers.argmax()[0]), case.against, case.seed)

    def _proposals(self, reading: Reading, one: RuleText, sample: Sample, i: int) -> Conversation[set[WordRule]]:
        """The rules that make each of the edits of a text."""
        with sample.naming(i):
            e = yield from reading.explained_by(self._inner[1])
        if e.edits and e.text.focus != one.text.focus:
            other = e.text.focus[0]
            raise BadInput(f"{self._inner[0].name} edits the field {other!r}: give sear the same, field={other}.")
        words = one.text.words
        parts = [part for edit in e.edits for part in changed_parts(words, Text.of(edit.text).words, self.length)]
        beside = [at for part in parts for at in neighbours(part, words)]
        tags = {} if self.tagger is None else (yield from tags_of(one.string, beside, self.tagger))
        return {rule for part in parts for rule in rules_of(part, words, tags)}

    def _chosen(self, proposed: Counter[WordRule], texts: RuleTexts) -> Conversation[list[AppliedRule]]:
        """The rules that change the answer to most texts together, the one that adds most first."""
        common = sorted(proposed, key=lambda rule: (-proposed[rule], str(rule)))
        frequent = [rule for rule in common if len(texts.possible(rule)) >= self.flips][: self.candidates]
        applied: list[AppliedRule] = yield Each(texts.apply(rule) for rule in frequent)
        strong = [one for one in applied if len(one.flipped) >= self.flips]
        same = yield Each(self._means_the_same(one, texts) for one in strong)
        kept = [one for one, ok in zip(strong, same, strict=True) if ok]
        kept.sort(key=lambda one: (-len(one.flipped), -one.rate, _size(one.rule), str(one.rule)))
        picks = greedy_picks([one.flipped for one in kept], np.ones(len(texts.texts)), self.rules) if kept else []
        return list(_adding([kept[i] for i in picks]))

    def _means_the_same(self, one: AppliedRule, texts: RuleTexts) -> Conversation[bool]:
        """Whether the texts still mean what they meant, but for a few."""
        few = one.found[:: -(-len(one.found) // _JUDGED)]
        kept = yield Each(self._meaning(texts.texts[each.number], one.rule, each.places) for each in few)
        return float(np.mean(kept)) >= 1 - _LOST

    def _meaning(self, one: RuleText, rule: WordRule, places: Sequence[int]) -> Conversation[bool]:
        made, version = self._inner[1], one.changed(rule, places)
        if isinstance(made, JudgesMeaning):
            return float((yield from made.meaning_kept(one.string, [version], one.seed))[0]) >= self.cut
        found = yield from sentence_similarities(one.string, [version], self.encoder, self.layer)
        return float(found[0]) >= self.similar

    def _warnings(self, rules: Sequence[Rule], facts: dict[str, Any]) -> Iterator[str]:
        if not facts["with_edits"]:
            yield f"{self._inner[0].name} changed the answer to no text, so there are no changes to make rules of"
        elif not rules:
            yield f"no change of words turns the answer to {self.flips} texts of the {facts['searched']} searched"
        if 0 < facts["held_out"] < _FEW:
            yield f"only {facts['held_out']} texts were set aside to try the rules on: their intervals are wide"


def _size(rule: WordRule) -> int:
    """How much a rule asks for: the shortest comes first among equals."""
    return len(rule.old) + len(rule.new) + (rule.left is not None) + (rule.right is not None)


def _adding(chosen: Sequence[AppliedRule]) -> Iterator[AppliedRule]:
    """Those that change the answer to a text that the ones before them do not."""
    known: set[int] = set()
    for one in chosen:
        if set(one.flipped) - known:
            yield one
        known |= set(one.flipped)


def _rule(one: AppliedRule, tried: AppliedRule, searched: RuleTexts, held: RuleTexts) -> Rule:
    share = Share.exact(len(tried.flipped), len(tried.found))
    pairs = [(held, each) for each in tried.found if each.flipped] + [(searched, e) for e in one.found if e.flipped]
    shown = [(where.texts[each.number], each.places) for where, each in pairs[:_EXAMPLES]]
    kept = tried.found[:_KEPT]
    numbers = {
        **one.rule.to_dict(),
        "matches": len(one.found),
        "flips": len(one.flipped),
        "flip_rate": one.rate,
        "held_out_matches": share.of,
        "held_out_flips": share.count,
        "held_out_rate": share.value,
        "low": share.low,
        "high": share.high,
        "coverage": (len(one.found) + share.of) / (len(searched.texts) + len(held.texts)),
        "examples": [[text.string, text.changed(one.rule, places)] for text, places in shown],
        "places": [list(each.places) for each in kept],
    }
    return Rule(str(one.rule), {}, numbers, tuple(held.texts[each.number].text.strings for each in kept))
