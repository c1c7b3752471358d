"""What the tasks of several studies do with their engine: lead conversations to their end, and judge explanations."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, TypeVar

from assay.engine.engine import Engine
from assay.explanations.base import Explanation
from assay.questions.base import Conversation
from assay.verdicts.concluding import VerdictBuilder
from assay.verdicts.judge import judged

T = TypeVar("T")


def asked(engine: Engine, talks: Iterable[Conversation[T]]) -> list[T]:
    """What each conversation returns; the first error of one is raised."""
    return [outcome.get() for outcome in engine.run(talks)]


def examined(
    engine: Engine, explanations: Sequence[Explanation], check: Any, draws: int, progress: bool | None
) -> VerdictBuilder:
    """What a check measures of each explanation, and its verdict: by the judge that `assay check` has."""
    return next(judged(engine, explanations, [check], draws=draws, progress=progress))
