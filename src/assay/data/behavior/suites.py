"""Suites of probes by name: our starter templates, a user's YAML file, a published challenge set, a user's sample.

sentiment, entailment, ...          our templates                       my_tests.yaml      a user's own
hans, blimp, crows_pairs, ...       published sets below the folder $ASSAY_DATA, or hans:FILE for another place
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from assay.data.behavior.probes import Probe, ProbeGroup
from assay.data.behavior.published import PUBLISHED
from assay.data.behavior.templates import STARTERS, TemplateSuite, read_suite, starter
from assay.data.published_places import published_place
from assay.errors import BadInput, UnknownName


@dataclass(frozen=True)
class Suite:
    """Probes, and the other names that labels may have."""

    probes: Iterable[Probe]
    labels: dict[str, list[str]] = field(default_factory=dict)


def find_suite(name: str, most: int) -> Suite:
    """At most so many probes of each case."""
    kind, _, place = name.partition(":")
    if kind in PUBLISHED:
        return Suite(first_of_each(_published(kind, place), most))
    if name.endswith((".yaml", ".yml")):
        return _made(read_suite(name), most)
    if name in STARTERS:
        return _made(starter(name), most)
    raise UnknownName.of("suite", name, [*STARTERS, *PUBLISHED, "FILE.yaml"])


def suite_for(labels: Iterable[str], fields: Iterable[str]) -> str:
    """The starter suite that fits a model with these labels and fields."""
    known = {label.lower() for label in labels}
    if "context" in fields:
        return "reading"
    if known & {"entailment", "entails", "entailed"}:
        return "entailment"
    if known & {"positive", "pos"}:
        return "sentiment"
    if {"continuation", "word"} & set(fields):
        return "language"
    raise BadInput(
        f"no starter suite fits a model with the labels {', '.join(labels)}: give a sample with labels (--file F "
        f"--label-column C), or choose by suite={'|'.join([*STARTERS, *PUBLISHED])} or suite=FILE.yaml."
    )


def first_of_each(probes: Iterable[Probe], most: int) -> Iterator[Probe]:
    """The first so many probes of each group."""
    seen: dict[ProbeGroup, int] = {}
    for probe in probes:
        seen[probe.group] = seen.get(probe.group, 0) + 1
        if seen[probe.group] <= most:
            yield probe


def _made(suite: TemplateSuite, most: int) -> Suite:
    return Suite(suite.probes(most), suite.labels)


def _published(name: str, place: str) -> Iterator[Probe]:
    reader, places = PUBLISHED[name]
    return reader(published_place(name, place, places, "suite"))
