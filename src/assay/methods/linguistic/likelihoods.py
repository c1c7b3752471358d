"""How likely a language model finds a sentence, or one place of it.

    causal      log p(s) = sum_j log p(token_j | tokens before j)
    masked      sum over words i of log p(word_i | all other words)      pseudo-likelihood, Salazar et al. (2020)
    classifier  the log-odds of the label that stands for "acceptable"

arXiv:1910.14659. A word of several pieces is masked as a whole: with its other pieces in sight, the pieces of a rare
word are easy to guess and would make it likely (Kauf and Ivanova 2023, arXiv:2305.10588).
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher

from assay.data.behavior.probes import PreferenceProbe
from assay.errors import BadInput, UnknownName
from assay.questions.base import Conversation
from assay.questions.facts import KnownFacts
from assay.questions.fill import Fill
from assay.questions.likelihoods import log_probabilities, masked_word, named_outcome
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.variants import Symbol


def preferences(probe: PreferenceProbe, facts: KnownFacts, acceptable: str | None) -> Conversation[tuple[float, float]]:
    """How likely both versions are."""
    versions = (probe.good, probe.bad)
    if acceptable:
        sentences = [Text.of(probe.sentence(version), names=facts.fields) for version in versions]
        values = (yield Predict(*sentences)).value(_index(acceptable, facts.labels))
        return float(values[0]), float(values[1])
    if Fill in facts.answers:
        return (yield from _masked(probe, facts.spelling[Symbol.MASK]))
    if facts.fields[:2] == ("prompt", "continuation"):
        rows = [_continued(probe, version) for version in versions]
        good, bad = yield from log_probabilities(rows)
        return float(good), float(bad)
    raise BadInput(
        f"the probes of {probe.group.name!r} compare sentences: {facts.name} is no causal or masked language model; of "
        f"a classifier name the label of acceptable sentences by acceptable=LABEL, one of {', '.join(facts.labels)}."
    )


def _continued(probe: PreferenceProbe, version: str) -> Text:
    """What a causal model goes on with: the place that differs, or the whole sentence."""
    prompt = probe.start if probe.one_place else ""
    said = {"prompt": prompt, "continuation": version}
    return Text.of(said, focus=("prompt",))


def _masked(probe: PreferenceProbe, mask: str) -> Conversation[tuple[float, float]]:
    if probe.one_place:
        text = probe.sentence(mask)
        good, bad = yield from log_probabilities([named_outcome(text, word) for word in (probe.good, probe.bad)])
        return float(good), float(bad)
    versions = [Text.of(probe.good), Text.of(probe.bad)]
    places = _shared(*versions) if probe.shared else [range(len(version)) for version in versions]
    rows = [
        [masked_word(version, i, version.words[i], mask) for i in at]
        for version, at in zip(versions, places, strict=True)
    ]
    if not all(rows):
        raise BadInput(f"the sentences {probe.good!r:.40} and {probe.bad!r:.40} share no word to compare.")
    found = yield from log_probabilities([row for version in rows for row in version])
    return float(found[: len(rows[0])].sum()), float(found[len(rows[0]) :].sum())


def _shared(one: Text, other: Text) -> list[Sequence[int]]:
    """The places of the words that both have, in order."""
    blocks = SequenceMatcher(None, one.words, other.words, autojunk=False).get_matching_blocks()
    return [
        [block.a + k for block in blocks for k in range(block.size)],
        [block.b + k for block in blocks for k in range(block.size)],
    ]


def _index(label: str, labels: tuple[str, ...]) -> int:
    if label not in labels:
        raise UnknownName.of("label", label, labels)
    return labels.index(label)
