"""The first half of a verdict: what a check measures of each text, for its explanation and for random ones.

Random explanations are made by the explanation itself (`random_like`): random scores of the same norm for a text, a
random choice of as many texts for a sample. The check examines the explanation and the random ones in the same way;
where it learns from a whole set (a threshold), every set of random explanations teaches it anew. `check`, `trust`,
`run` and studies all measure by this code. A run keeps the results in its shards, text by text, and makes verdicts of
them later (`assay.verdicts.concluding`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from assay.engine.engine import Outcome
from assay.errors import AssayError, NonFiniteAnswer
from assay.explanations.base import Explanation
from assay.questions.base import Conversation
from assay.registry.measured import Measured
from assay.registry.protocols import Check, Compares, Prepares, Selects

Maps: TypeAlias = Sequence[Explanation]
# Runs conversations together; it gets functions, so that one which failed in company can be opened again alone.
Runner: TypeAlias = Callable[[Sequence[Callable[[], Conversation[Any]]]], Iterable[Outcome[Any]]]


@dataclass(frozen=True)
class TextResult:
    """What a check found for one text, and the scores of its random explanations; or why there is nothing."""

    measured: Measured | None = None
    random: tuple[float, ...] = ()
    left_out: str | None = None
    error: Exception | None = None


def measure(check: Check[Any], sets: Sequence[Maps], run: Runner) -> list[TextResult]:
    """One result for each text; `sets` are its explanations and then as many sets of random ones, see `with_random`."""
    checks = [check.prepare(maps) if isinstance(check, Prepares) else check for maps in sets]
    reasons = [_left_out(checks[0], e) for e in sets[0]]
    outcomes = _outcomes(run, checks, sets, [i for i, why in enumerate(reasons) if why is None])
    return [_result(next(outcomes)) if why is None else TextResult(left_out=why) for why in reasons]


def with_random(explanations: Maps, draws: int) -> list[Maps]:
    """The explanations, and `draws` sets of random explanations of the same texts, or of the same sample."""
    return [explanations, *type(explanations[0]).random_sets(explanations, draws)]


def _left_out(check: Check[Any], e: Explanation) -> str | None:
    return check.left_out(e) if isinstance(check, Selects) else None


def _outcomes(
    run: Runner, checks: Sequence[Check[Any]], sets: Sequence[Maps], used: Sequence[int]
) -> Iterator[Sequence[Outcome[Any]]]:
    """For each used text the outcome for its explanation, then those for its random ones."""
    pairs = list(zip(checks, sets, strict=True))
    if isinstance(checks[0], Compares):
        comparing = [(one, maps) for one, maps in pairs if isinstance(one, Compares)]
        known = run([partial(checks[0].against, sets[0][i]) for i in used])
        for i, outcome in zip(used, known, strict=True):
            yield [_compared(one, maps[i], outcome) for one, maps in comparing]
        return
    outcomes = iter(run([partial(one.examine, maps[i]) for i in used for one, maps in pairs]))
    for _ in used:
        yield [next(outcomes) for _ in pairs]


def _compared(check: Compares[Explanation], e: Explanation, known: Outcome[Any]) -> Outcome[Any]:
    """What the check measures of a map once it knows what to compare it with."""
    if known.error is not None:
        return known
    try:
        return replace(known, result=check.measure(e, known.result))
    except AssayError as error:
        return replace(known, result=None, error=error)


def _result(outcomes: Sequence[Outcome[Any]]) -> TextResult:
    """An error where the explanation or one of the random ones could not be measured: NaN is never averaged."""
    if error := next((outcome.error for outcome in outcomes if outcome.error is not None), None):
        return TextResult(error=error)
    own, *others = [Measured.of(outcome.get()) for outcome in outcomes]
    if own.left_out is not None:
        return TextResult(left_out=own.left_out)
    if broken := next((one for one in (own, *others) if not one.finite), None):
        return TextResult(error=NonFiniteAnswer(f"a check measured NaN or infinity: {broken}."))
    return TextResult(own, tuple(float(one.score) for one in others))
