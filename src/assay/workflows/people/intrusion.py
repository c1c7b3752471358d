"""Word intrusion for people (Chang et al. 2009, Reading Tea Leaves): which of six words does not belong to the others?

    five words     the strongest of a dimension           the sixth      strong elsewhere, and weak here

A dimension that has a meaning gives its intruder away; the survey (section 12.2) asks that people judge, and not a
distance in the space that the words were chosen by. Three versions of the same word vectors are asked about side by
side: rotated, unrotated (as they were before), and under a random rotation. People see six words, in an order by
chance, and not which version they come from; "cannot tell" is an answer too. Guessing finds one in six.

    accuracy      intruders found among all answers, with an exact interval, by version; tested against one in six
    rotated       against each of the other versions by Fisher's exact test
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any

import numpy as np

from assay.errors import BadInput
from assay.explanations.loadings import Loadings, intruders, outermost
from assay.statistics.arrays import Floats
from assay.statistics.exact import Share, above_chance, fisher
from assay.workflows.people.answers import Collected
from assay.workflows.people.example import digest
from assay.workflows.people.krippendorff import alpha
from assay.workflows.people.results import completeness, majority
from assay.workflows.people.tasks import CANNOT_TELL, Item, Key, Role, Tasks

TOP = 5
VERSIONS: tuple[Role, ...] = ("rotated", "unrotated", "random")
_QUESTION = "Which word does not belong to the others?"


def intrusion_tasks(e: Loadings, dimensions: int = 20, seed: int = 0) -> Tasks:
    """An item for each of the first dimensions in each version."""
    if len(e.words) < 4 * (TOP + 1):
        raise BadInput(f"{len(e.words)} words are too few for word intrusion; describe {4 * (TOP + 1)} or more.")
    rng = np.random.default_rng([seed, len(e.words)])
    (random,) = islice(e.random_like(1), 1)
    tables = dict(zip(VERSIONS, (e.loadings, e.unrotated, random.loadings), strict=True))
    pairs = [
        _pair(e.words, table, k, version, rng)
        for version, table in tables.items()
        for k in range(min(dimensions, table.shape[1]))
    ]
    items = sorted((item for item, _ in pairs), key=lambda item: digest(str(seed), item.id))
    return Tasks(tuple(items), tuple(key for _, key in pairs), seed)


def _pair(
    words: Sequence[str], table: Floats, dimension: int, version: Role, rng: np.random.Generator
) -> tuple[Item, Key]:
    top = outermost(table, dimension, TOP)
    (intruder,) = intruders(table, dimension, top, 1, rng)
    shown = [words[i] for i in rng.permutation([*top, intruder]).tolist()]
    choices, name = (*shown, CANNOT_TELL), digest("intruder", version, str(dimension), *sorted(shown))
    item = Item(name, "intruder", _QUESTION, {"words": ", ".join(shown)}, choices)
    number = dimension * len(VERSIONS) + VERSIONS.index(version) + 1  # no two items show the same words
    return item, Key(name, version, number, words[intruder], choices)


@dataclass(frozen=True)
class VersionLine:
    """One version: intruders found, how often people could not tell, whether that is more than guessing finds."""

    version: Role
    found: Share
    undecided: int
    p_chance: float | None
    p_rotated: float | None
    agreement: float | None


@dataclass(frozen=True)
class IntrusionScores:
    """The versions, the rotated one first, and how complete the answers are."""

    lines: tuple[VersionLine, ...]
    by: str
    answers: int
    annotators: int
    items: int
    missing: int = 0
    warnings: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        lines = [asdict(line) | {"found": asdict(line.found) | {"value": line.found.value}} for line in self.lines]
        return asdict(self) | {"lines": lines}


def is_intrusion(keys: Sequence[Key]) -> bool:
    """Whether a study is about intruders."""
    return bool(keys) and all(key.role in VERSIONS for key in keys)


def intrusion_scores(collected: Collected, by: str = "items") -> IntrusionScores:
    """What people found; items count once, by what most people said, or by="answers" every answer."""
    if not collected.count:
        raise BadInput("there is no answer to count.")
    shares = {version: _share(list(_votes(collected, version, by))) for version in VERSIONS}
    lines = tuple(_line(collected, version, shares, by) for version in VERSIONS)
    people = {who for one in collected.items for who in one.answers}
    answered = sum(bool(one.answers) for one in collected.items)
    warnings = tuple(completeness(collected))
    return IntrusionScores(lines, by, collected.count, len(people), answered, collected.missing, warnings)


def _line(collected: Collected, version: Role, shares: dict[Role, Share], by: str) -> VersionLine:
    votes = list(_votes(collected, version, by))
    other = None if version == VERSIONS[0] else fisher(shares[VERSIONS[0]], shares[version])
    agreement = alpha(list(one.answers.values()) for one in collected.items if one.key.role == version)
    undecided = sum(answer == CANNOT_TELL for _, answer in votes)
    return VersionLine(
        version, shares[version], undecided, above_chance(shares[version], 1 / (TOP + 1)), other, agreement
    )


def _share(votes: Sequence[tuple[Key, str]]) -> Share:
    return Share.exact(sum(answer == key.label for key, answer in votes), len(votes))


def _votes(collected: Collected, version: Role, by: str) -> Iterator[tuple[Key, str]]:
    for one in collected.items:
        if one.key.role == version and one.answers:
            answers = list(one.answers.values())
            yield from ((one.key, answer) for answer in ([majority(answers)] if by == "items" else answers))
