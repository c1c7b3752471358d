"""Rules of words: how often they turn texts that were not searched, and texts that were not seen at all.

SEAR finds rules on one half of a sample and reports their flip rate on the other half. Here the rules are then put on
further texts, which neither half holds, and beside them random words in the same places of these texts. Every
application of a rule to a text counts once: the intervals are over applications. The edits that rules are made of are
those of HotFlip (one flip) or of SEA, as published.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.explanations.flips import in_one_field
from assay.explanations.rules import Rules
from assay.methods.rules.applications import AppliedRule, RuleText, RuleTexts
from assay.questions.aims import Aims
from assay.questions.base import Conversation
from assay.questions.cases import Cases, with_aims
from assay.questions.each import Each
from assay.questions.predict import Predict
from assay.statistics.intervals import Estimate
from assay.text.example import Example, text_of
from assay.text.sample import Sample
from assay.text.word_rules import WordRule
from assay.verbs import describe
from assay_studies.claims import Claim, Evidence, above, claim, higher, within
from assay_studies.edits.tasks import JUDGE, PAPER, Task
from assay_studies.edits.texts import LabelledText
from assay_studies.rules import apart
from assay_studies.samples import spread
from assay_studies.specification import PartSpec, Quantity, Subject, TableSpec, Values, on_each
from assay_studies.tables import Cell

SOURCES: dict[str, dict[str, Any]] = {
    "hotflip": {"of": "hotflip:flips=1,similar=0.4,same_tag=true"},
    "sea": {"of": "sea"},
}
_TITLES = {"hotflip": "SEAR of HotFlip", "sea": "SEAR of SEA"}
_COLUMNS = {
    "rules": "rules",
    "searched": "flip rate, searched half",
    "reported": "flip rate, other half",
    "further": "flip rate, further texts",
    "random": "random words there",
    "kept": "judge keeps the label",
}
_NEAR = 0.1  # our limit for "the rule holds true": no farther from the reported flip rate
_HALF = 0.5


@dataclass(frozen=True)
class Tried:
    """What rules do to further texts: by application whether the answer changes, and how often by random words."""

    flips: list[float]
    random: list[float]
    kept: list[float]


def _measure(task: Task) -> Subject:
    found: dict[tuple[str, str], Quantity] = {}
    for source in SOURCES:
        if source == "sea" and source not in task.ways:  # it is for short texts
            continue
        task.request.say(f"{task.title}: {_TITLES[source]}")
        seen, further = _samples(task, task.sizes.searched if source == "hotflip" else 2 * task.sizes.paraphrased)
        rules = _rules(task, source, seen)
        (tried,) = task.ask([with_aims(_tried(rules, further, task.sizes.draws), Aims())])
        found |= {(source, name): value for name, value in _quantities(rules, tried)}
    return Subject(task.name, task.title, found)


def _rules(task: Task, source: str, seen: Sequence[LabelledText]) -> Rules:
    sample = _sample(task.name, seen)

    def made() -> dict[str, Any]:
        found: Rules = describe(
            None, sample, "sear", engine=task.engine, progress=task.request.progress, **SOURCES[source]
        )
        return found.to_dict()

    settings = {**task.settings, "source": SOURCES[source], "searched": sample.digest}
    return Rules.from_dict(task.store.once("rules", f"{task.name}-{source}", settings, made))


def _sample(name: str, rows: Sequence[LabelledText]) -> Sample:
    """Both fields of a pair: in a list of tuples a Sample takes the second string for the label."""
    return Sample.of([Example(str(i), one.strings, one.label) for i, one in enumerate(rows)], name=name)


def _samples(task: Task, count: int) -> tuple[list[LabelledText], list[LabelledText]]:
    """Texts to search and report on, and others."""
    seen = spread(task.rows, count)
    known = {one.strings for one in seen}
    return seen, spread([one for one in task.rows if one.strings not in known], task.sizes.further)


def _quantities(rules: Rules, tried: Tried) -> Iterator[tuple[str, Quantity]]:
    yield "rules", Cell(counted=str(len(rules.rules)))
    for name, matches, flips in (
        ("searched", "matches", "flips"),
        ("reported", "held_out_matches", "held_out_flips"),
    ):
        numbers = [(int(rule.numbers[flips]), int(rule.numbers[matches])) for rule in rules.rules]
        every = [value for yes, of in numbers for value in [1.0] * yes + [0.0] * (of - yes)]
        if every:
            yield name, Values(np.array(every))
    for name, values in (("further", tried.flips), ("random", tried.random), ("kept", tried.kept)):
        if values:
            yield name, Values(np.array(values))


def _tried(rules: Rules, further: Sequence[LabelledText], draws: int) -> Conversation[Tried]:
    """The rules, and random ones in their place, on further texts."""
    if not rules.rules:
        return Tried([], [], [])
    read: list[RuleText] = yield Each(_read(one) for one in further)
    texts = RuleTexts(read, "tagger")
    own: list[AppliedRule] = yield Each(texts.apply(change) for change in _changes(rules))
    places = [(rule.rule, one) for rule in own for one in rule.found]
    random = np.zeros(len(places))
    for other in rules.random_like(draws):
        applied: list[AppliedRule] = yield Each(texts.apply(change) for change in _changes(other))
        flips = [one.flipped for rule in applied for one in rule.found]
        if len(flips) == len(places):
            random += np.array(flips) / draws
    kept: list[float | None] = yield Each(
        _kept(read[one.number], change, one.places) for change, one in places if one.flipped
    )
    flipped = [float(one.flipped) for _, one in places]
    return Tried(flipped, random.tolist(), [value for value in kept if value is not None])


def _changes(rules: Rules) -> list[WordRule]:
    return [rule.change for rule in rules.rules if rule.change is not None]


def _read(one: LabelledText) -> Conversation[RuleText]:
    (reading,) = yield Cases([text_of(one.strings)])
    text = in_one_field(reading.case.text, None)
    answers = yield Predict(text)
    return RuleText(text, int(answers.argmax()[0]), None, 0)


def _kept(one: RuleText, change: WordRule, places: Sequence[int]) -> Conversation[float | None]:
    """Whether the judge, which agreed with the model before, still does; None where it did not agree."""
    answers = yield Predict(one.text, change.applied(one.text, places)).sent_to(JUDGE)
    before, after = answers.argmax().tolist()
    return float(after == before) if before == one.target else None


def _claims(subject: Subject) -> Iterator[Claim]:
    for source, name in _TITLES.items():
        if (source, "further") not in subject:
            continue
        about = f"{name} on {subject.title}"
        yield claim(
            f"{about}: rules hold on further texts as they do where they were reported (15.3)",
            Evidence("flip rate, further - reported", _moved(subject, source), within(_NEAR)),
            key="rules_hold",
            about=about,
        )
        yield claim(
            f"{about}: rules turn more texts than random words in the same places",
            Evidence("flip rate, rules - random", subject.gap((source, "further"), (source, "random")), higher),
            key="rules_beat_chance",
            about=about,
        )
        yield claim(
            f"{about}: what a rule changes keeps its label (15.1)",
            Evidence("judge keeps the label", subject.estimate(source, "kept"), above(_HALF)),
            key="rules_equivalent",
            about=about,
        )


def _moved(subject: Subject, source: str) -> Estimate | None:
    """The two rates are of other texts: they are not paired."""
    further, reported = (subject.estimate(source, name) for name in ("further", "reported"))
    return apart(further, reported) if further and reported else None


PART = PartSpec(
    name="rules",
    title="Rules of words",
    measure=on_each(_measure),
    tables=[
        TableSpec(
            name="rules_{name}",
            title="{title}: rules of words",
            rows=_TITLES,
            columns=_COLUMNS,
            layout="tables",
        )
    ],
    claims=[_claims],
    published=PAPER,
)
