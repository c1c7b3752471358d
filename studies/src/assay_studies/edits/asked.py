"""What the survey says of adversarial examples (section 7) and counterfactuals (section 9), as claims on a dataset.

A comparison of two ways is paired, on the texts where both have the number.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from assay.statistics.arrays import Floats
from assay.statistics.intervals import Estimate, difference
from assay_studies.claims import Claim, Evidence, above, below, claim, higher, lower, within
from assay_studies.edits.measures import both, known
from assay_studies.edits.ways import ADVERSARIAL, PEOPLE, RANDOM, TITLES
from assay_studies.specification import Subject, Values

_HALF = 0.5
_FLUENT = float(np.log(1.25))  # our limit for "fluent": a ratio from 0.8 to 1.25


def geometric(means: Floats) -> Floats:
    """The geometric mean, of the mean of logarithms."""
    return np.asarray(np.exp(means[..., 0]))


def adversarial(subject: Subject) -> Iterator[Claim]:
    """Section 7."""
    title = subject.title
    for way in (way for way in ADVERSARIAL if has(subject, way)):
        yield claim(
            f"{title}: the label stays as it was where {TITLES[way]} changes the prediction (7)",
            Evidence("judge keeps the label", mean_of(subject, way, "kept"), above(_HALF)),
            key="adversarial",
            about=f"{TITLES[way]} on {title}",
        )
    yield claim(
        f"{title}: constraining the words brings HotFlip closer to paraphrases (7.1)",
        Evidence("similarity, similar words - any", gap(subject, "hotflip_alike", "hotflip", "similarity"), higher),
        Evidence("label kept, similar words - any", gap(subject, "hotflip_alike", "hotflip", "kept"), higher),
        key="constrained",
        about=title,
    )
    if not has(subject, "sea"):
        return
    yield claim(
        f"{title}: what a paraphraser writes is closer to a paraphrase than what HotFlip does (7.2)",
        Evidence("similarity, SEA - HotFlip", gap(subject, "sea", "hotflip", "similarity"), higher),
        Evidence("SEA finds one for this share of the texts", mean_of(subject, "sea", "flips")),
        key="paraphrases",
        about=title,
    )
    yield claim(
        f"{title}: SEA is expensive (7.3)",
        Evidence("rows and tokens a text, SEA - HotFlip", gap(subject, "sea", "hotflip", "rows"), higher),
        digits=0,
        key="expensive",
        about=title,
    )


def counterfactual(subject: Subject) -> Iterator[Claim]:
    """Section 9."""
    title = subject.title
    yield claim(
        f"{title}: adversarial examples keep the label, counterfactuals change it (9)",
        Evidence("label kept, HotFlip - MiCE", gap(subject, "hotflip", "mice", "kept"), higher),
        Evidence("label kept, similar words - MiCE", gap(subject, "hotflip_alike", "mice", "kept"), higher),
        key="critical",
        about=title,
    )
    yield claim(
        f"{title}: MiCE gives texts of the other label (9.3)",
        Evidence("judge keeps the label", mean_of(subject, "mice", "kept"), below(_HALF)),
        key="opposite",
        about=title,
    )
    yield claim(
        f"{title}: MiCE is fluent (9)",
        Evidence("log of the fluency ratio", mean_of(subject, "mice", "fluency"), within(_FLUENT)),
        key="fluent",
        about=title,
    )
    yield claim(
        f"{title}: the gradient makes MiCE's edits fewer and more fluent (9.2)",
        Evidence("share of words changed, gradient - random", gap(subject, "mice", "mice_random", "changed"), lower),
        Evidence("log fluency ratio, gradient - random", gap(subject, "mice", "mice_random", "fluency"), lower),
        key="gradient",
        about=title,
    )
    if has(subject, "polyjuice"):
        yield claim(
            f"{title}: Polyjuice, which only filters by the model, turns fewer texts than MiCE (9.1)",
            Evidence("flip rate, Polyjuice - MiCE", gap(subject, "polyjuice", "mice", "flips"), lower),
            key="filtering",
            about=title,
        )


def judges(subject: Subject) -> Iterator[Claim]:
    """Our own questions: are the edits more than noise, and may the judge be believed?"""
    title = subject.title
    yield claim(
        f"{title}: MiCE turns more texts than as many random words do",
        Evidence("flip rate, MiCE - random", gap(subject, "mice", RANDOM, "flips"), higher),
        key="beyond_chance",
        about=title,
    )
    yield claim(
        f"{title}: MiCE is more fluent than HotFlip",
        Evidence("log fluency ratio, MiCE - HotFlip", gap(subject, "mice", "hotflip", "fluency"), lower),
        key="likelier",
        about=title,
    )
    if has(subject, PEOPLE):
        yield claim(
            f"{title}: the judge sees that people changed the label",
            Evidence("judge keeps the label", mean_of(subject, PEOPLE, "kept"), below(_HALF)),
            key="judge",
            about=title,
        )
        yield claim(
            f"{title}: MiCE changes less than people do",
            Evidence("share of words changed, MiCE - people", gap(subject, "mice", PEOPLE, "changed"), lower),
            key="people",
            about=title,
        )


def has(subject: Subject, way: str) -> bool:
    return way in subject.facts["ways"]


def gap(subject: Subject, one: str, other: str, name: str) -> Estimate | None:
    """How much more the first way has of it."""
    ways = subject.facts["ways"]
    if not (has(subject, one) and has(subject, other)):
        return None
    a, b = both(ways[one][name], ways[other][name])
    return difference(a, b) if len(a) else None


def mean_of(subject: Subject, way: str, name: str) -> Estimate | None:
    """The mean over the texts that have it; of fluency that of the logarithms."""
    values = known(subject.facts["ways"][way][name])
    return Values(values).estimate() if len(values) else None
