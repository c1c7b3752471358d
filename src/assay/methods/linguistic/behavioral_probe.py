"""Behavioural probe: how often the model does what a linguist expects, group by group.

    accuracy(group) = mean over its probes of 1[the model's answer is the expected one]      with an exact 95 % interval

Survey, section 14.1. A suite of probes is a published challenge set (HANS: McCoy, Pavlick and Linzen 2019,
arXiv:1902.01007; subject-verb agreement, BLiMP, CrowS-Pairs, WinoBias), templates in the style of CheckList (Ribeiro et
al. 2020, arXiv:2005.04118), or the user's own sample: its
accuracy by label or by the columns `groups`, and, where it has no labels, whether small changes change the answer.
The answer is the predicted label (of HANS, anything but entailment is non-entailment), the span, or which of two
sentences is likelier; equally likely ones fail. Without a sample and a suite, the starter suite that fits the labels.
Of each case at most `most` probes are asked; `examples` failures of each case are kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from assay.data.behavior.from_sample import from_sample
from assay.data.behavior.probes import DirectionProbe, LabelProbe, PreferenceProbe, Probe, ProbeGroup, SameProbe
from assay.data.behavior.suites import Suite, find_suite, suite_for
from assay.errors import AssayError, BadInput
from assay.explanations.behavior import Behavior, FailedProbe, GroupResult
from assay.explanations.sample_explanation import SampleId
from assay.methods.linguistic.expected_labels import ExpectedLabels, same_answer
from assay.methods.linguistic.likelihoods import preferences
from assay.questions.base import Conversation
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict, Settle
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.text.sample import Sample
from assay.text.text import TextLike, strings_of


@dataclass(frozen=True)
class ProbeOutcome:
    """What became of one probe: passed, failed in a way that can be shown, or not to be asked."""

    group: ProbeGroup
    failed: FailedProbe | None = None
    error: AssayError | None = None


@dataclass
class ProbeTally:
    """What became of all probes so far; only a few failures of each group are kept."""

    examples: int
    counts: dict[ProbeGroup, list[int]] = field(default_factory=dict)
    failures: dict[ProbeGroup, list[FailedProbe]] = field(default_factory=dict)
    errors: list[AssayError] = field(default_factory=list)
    unasked: int = 0

    def add(self, outcome: ProbeOutcome) -> ProbeTally:
        """Take in one outcome; a fold of Each."""
        if outcome.error is not None:
            self.unasked += 1
            self.errors = self.errors or [outcome.error]
            return self
        counts = self.counts.setdefault(outcome.group, [0, 0])
        counts[0] += outcome.failed is None
        counts[1] += 1
        shown = self.failures.setdefault(outcome.group, [])
        if outcome.failed is not None and len(shown) < self.examples:
            shown.append(outcome.failed)
        return self

    def results(self) -> tuple[GroupResult, ...]:
        return tuple(
            GroupResult(g.name, g.case, g.kind, passed, n, g.wanted, tuple(self.failures[g]))
            for g, (passed, n) in self.counts.items()
        )


@method(
    title="Behavioral probe",
    row=Row.LINGUISTIC,
    uses=Uses.BLACK_BOX,
    paper="arXiv:1902.01007",
    section="14.1",
    marks="D",
    needs=(Predict,),
    returns=Behavior,
    alone=True,
)
@dataclass(frozen=True, kw_only=True)
class BehavioralProbe:
    """How often the model does what each group of probes expects."""

    suite: str = "auto"
    groups: tuple[str, ...] = ()
    most: int = 100
    examples: int = 3
    labels: tuple[str, ...] = ()
    acceptable: str | None = None

    def __post_init__(self) -> None:
        if self.most < 1 or self.examples < 0:
            raise BadInput(f"behavioral_probe needs most >= 1 and examples >= 0, not {self.most} and {self.examples}.")

    def describe(self, sample: Sample) -> Conversation[Behavior]:
        facts: KnownFacts = yield ModelFacts()
        name, suite = self._suite(sample, facts)
        expected = ExpectedLabels.of(facts.labels, {**suite.labels}, self.labels)
        asked = (self._tried(probe, facts, expected) for probe in suite.probes)
        tally: ProbeTally = yield Each(asked, fold=ProbeTally.add, start=ProbeTally(self.examples))
        if not tally.counts:
            raise tally.errors[0] if tally.errors else BadInput(f"the suite {name} holds no probes.")
        found = Behavior(SampleId.of(sample), name, tally.results())
        return found.told(warnings=tuple(_warnings(tally)))

    def _suite(self, sample: Sample, facts: KnownFacts) -> tuple[str, Suite]:
        """A suite by its name, else the sample, else what fits the model."""
        if self.suite == "auto" and sample:
            return sample.name, Suite(from_sample(sample, self.groups))
        name = suite_for(facts.labels, facts.fields) if self.suite == "auto" else self.suite
        return name, find_suite(name, self.most)

    def _tried(self, probe: Probe, facts: KnownFacts, expected: ExpectedLabels) -> Conversation[ProbeOutcome]:
        """One probe; what cannot be asked is counted, and does not end the others."""
        try:
            match probe:
                case LabelProbe():
                    failed = yield from self._label(probe, facts, expected)
                case SameProbe():
                    failed = yield from self._same(probe, facts)
                case DirectionProbe():
                    failed = yield from self._direction(probe, facts, expected)
                case PreferenceProbe():
                    failed = yield from self._preference(probe, facts)
        except AssayError as error:
            return ProbeOutcome(probe.group, error=error)
        return ProbeOutcome(probe.group, failed)

    def _label(
        self, probe: LabelProbe, facts: KnownFacts, expected: ExpectedLabels
    ) -> Conversation[FailedProbe | None]:
        free = Settle in facts.answers
        right = (probe.expected,) if free else expected.names(probe.expected)  # before it is asked: it may be unknown
        answer, _ = yield from _answer(probe.text, facts)
        passed = same_answer(answer, probe.expected) if free else answer in right
        return None if passed else FailedProbe(_shown(probe.text), probe.expected, answer)

    def _same(self, probe: SameProbe, facts: KnownFacts) -> Conversation[FailedProbe | None]:
        answers = yield Each(_answer(text, facts) for text in probe.texts)
        first = answers[0][0]
        other = next((i for i, (answer, _) in enumerate(answers) if answer != first), None)
        if other is None:
            return None
        texts = f"{_shown(probe.texts[0])} → {_shown(probe.texts[other])}"
        return FailedProbe(texts, first, answers[other][0])

    def _direction(
        self, probe: DirectionProbe, facts: KnownFacts, expected: ExpectedLabels
    ) -> Conversation[FailedProbe | None]:
        names = expected.names(probe.label)
        (_, before), (_, after) = yield Each(_answer(text, facts) for text in (probe.before, probe.after))
        change = sum(after[name] - before[name] for name in names)
        if (change if probe.up else -change) >= -probe.tolerance:
            return None
        texts = f"{_shown(probe.before)} → {_shown(probe.after)}"
        return FailedProbe(texts, f"{probe.label} {'up' if probe.up else 'down'}", f"{probe.label} {change:+.2f}")

    def _preference(self, probe: PreferenceProbe, facts: KnownFacts) -> Conversation[FailedProbe | None]:
        good, bad = yield from preferences(probe, facts, self.acceptable)
        if good > bad:
            return None
        shown = f"{probe.start} … {probe.rest}" if probe.one_place else ""
        return FailedProbe(shown, probe.good, probe.bad)


def _answer(text: TextLike, facts: KnownFacts) -> Conversation[tuple[str, dict[str, float]]]:
    """What the model answers: its likeliest label, or the outcome that it settles on by itself."""
    (reading,) = yield Cases([text])
    chances = dict(reading.prediction)
    if Settle in facts.answers:
        return list(chances)[-1], chances
    return max(chances, key=lambda name: chances[name]), chances


def _shown(text: TextLike) -> str:
    return " | ".join(strings_of(text))


def _warnings(tally: ProbeTally) -> Iterable[str]:
    if tally.unasked:
        yield f"{tally.unasked:,} probes could not be asked; the first: {tally.errors[0]}"
    small = sum(1 for _, n in tally.counts.values() if n < 20)
    if small:
        groups = "1 group has" if small == 1 else f"{small} groups have"
        yield f"{groups} fewer than 20 probes; intervals are wide there"
