"""The verb `check`: explanations put to the checks, beside random explanations of the same texts.

A verdict has two halves, which a run uses too: `measuring` finds what a check says of each text, `concluding` makes
the verdict of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from math import ceil
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from assay.engine.engine import Engine, Outcome
from assay.engine.threads import with_threads
from assay.errors import AssayError, BadInput
from assay.explanations.base import Explanation
from assay.explanations.text_explanation import TextExplanation
from assay.progress import track
from assay.questions.base import Conversation
from assay.registry.cards import CheckCard, MethodCard
from assay.registry.finding import require, resolve_check, resolve_method
from assay.registry.fitting import require_kind
from assay.registry.parameters import parameters
from assay.registry.protocols import Check, Method
from assay.request import CheckLike, MethodLike, ModelLike, Request, aims_of, listed, several
from assay.statistics.verdict import Verdict
from assay.text.sample import NO_SAMPLE, Sample
from assay.verbs import PreparedRequest, describe_by, explain_by, prepare
from assay.verdicts.concluding import VerdictBuilder
from assay.verdicts.given import all_given
from assay.verdicts.left_out import LeftOut, all_that_can
from assay.verdicts.measuring import measure, with_random
from assay.verdicts.sample_checks import SampleRequest, sample_checks
from assay.verdicts.verdict_list import Verdicts, listed_verdicts

_DRAWS = 200
T = TypeVar("T")
Around: TypeAlias = Callable[[Conversation[Any]], Conversation[Any]]


def unchanged(conversation: Conversation[T]) -> Conversation[T]:
    return conversation


@dataclass(frozen=True)
class Checked:
    """What a request for checks comes to: the explanations, method by method, and one verdict per method and check."""

    explanations: tuple[tuple[Explanation, ...], ...]
    verdicts: tuple[Verdict, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def by_text(self) -> list[Explanation]:
        """All methods' explanations of the first text, then of the second, and so on."""
        return [e for text in zip(*self.explanations, strict=True) for e in text]


@with_threads
def check(
    model: ModelLike,
    texts: Any,
    methods: MethodLike | Sequence[MethodLike] = (),
    checks: CheckLike | Sequence[CheckLike] = (),
    *,
    scores: Any = None,
    draws: int | None = None,
    seed: int = 0,
    dev: Any = None,
    test: Any = None,
    out: str | Path | None = None,
    device: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | None = None,
    **aims: Any,
) -> Verdicts:
    """Put every method to every check on these texts; random explanations of the same texts go along.

    `scores` are explanations of another tool, {"mine": [those of the first text, those of the second, ...]}, in any
    form that `assay.given` takes. A method that describes samples takes the texts as `assay.describe` does. `draws` is
    the number of random explanations per text; by default all texts together have 200. A check that trains models
    (`roar`, ...) takes a labelled sample for `texts`, alone; `dev` and `test` are set aside from it where not given,
    `out` keeps the models. Of several checks, those that cannot be asked stand in `left_out` of the list, with reasons.
    """
    named, tests = several(methods), several(checks)
    if of_samples := sample_checks(tests):
        if scores is not None:
            raise BadInput(f"{of_samples[0][0].name} explains texts again, so it tests methods, not given scores.")
        samples: dict[str, Any] = {"sample": texts, "dev": dev, "test": test, "out": out, "device": device}
        samples["methods"] = [resolve_method(one) for one in named]
        request = SampleRequest(**samples, model=model, seed=seed, engine=engine, progress=progress)
        return listed_verdicts(*request.verdicts(of_samples))
    describes = any(resolve_method(one)[0].reads is Sample for one in named)
    given = _given_texts(texts, describes)
    what: dict[str, Any] = {"methods": named, "checks": tests, "scores": scores, "draws": draws, "device": device}
    asked = Request(model=model, texts=given, aims=aims_of("check", seed, aims), **what)
    found = check_all(prepare(asked, engine, some=True), progress)
    return listed_verdicts(found.verdicts, found.left_out)


def _given_texts(texts: Any, describes: bool) -> Any:
    """A list for methods that explain texts; a sample, or none, for those that describe."""
    if isinstance(texts, list | Sample):
        return texts
    if describes:
        return NO_SAMPLE if texts is None else Sample.of(texts)
    return listed(texts)[0]


def check_all(prepared: PreparedRequest, progress: bool | None = None) -> Checked:
    """Every explanation is made once, and every check examines it once."""
    made: list[tuple[Explanation, ...]] = list(all_given(prepared))
    made += [_explanations(prepared, card, method, progress) for card, method in prepared.methods]
    if not made or not prepared.checks:
        raise BadInput("a check needs checks=[...] and something to test: methods=[...], or scores of your own.")
    attempts = (
        partial(_attempt, prepared, sets, card, check, progress)
        for sets in map(partial(_sets, prepared), made)
        for card, check in prepared.checks
    )
    return Checked(tuple(made), *all_that_can(attempts))


def _sets(prepared: PreparedRequest, explanations: tuple[Explanation, ...]) -> list[Sequence[Explanation]]:
    return with_random(explanations, prepared.draws or default_draws(len(explanations)))


def _attempt(
    prepared: PreparedRequest,
    sets: list[Sequence[Explanation]],
    card: CheckCard,
    check: Check[Any],
    progress: bool | None,
) -> tuple[Verdict, ...] | LeftOut:
    """The verdict of one check on explanations of one method, or why there is none."""
    about = sets[0][0].about
    try:
        require_kind(about.method, type(sets[0][0]), card)
        require(card, prepared.engine.model, check)
        return (_builder(prepared.engine, sets, (card, check), prepared.aims.seed, progress).verdict(),)
    except AssayError as error:
        return LeftOut(about.method, card.name, error)


def _explanations(
    prepared: PreparedRequest, card: MethodCard, method: Method, progress: bool | None
) -> tuple[Explanation, ...]:
    """One explanation for each text; or one of the whole sample, by a method that describes samples."""
    if card.reads is Sample:
        return (describe_by(prepared, card, method, progress),)
    return tuple(explain_by(prepared, method, progress))


def judge(
    engine: Engine,
    explanations: Sequence[Explanation],
    checks: Sequence[CheckLike],
    *,
    draws: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
    around: Around = unchanged,
) -> list[Verdict]:
    """The verdicts on explanations that are there already: all by one method, one for each text.

    `around` changes every conversation of a check before it is led.
    """
    found = judged(engine, explanations, checks, draws=draws, seed=seed, progress=progress, around=around)
    return [builder.verdict() for builder in found]


def judged(
    engine: Engine,
    explanations: Sequence[Explanation],
    checks: Sequence[CheckLike],
    *,
    draws: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
    around: Around = unchanged,
) -> Iterator[VerdictBuilder]:
    """The same, for those who also need what was measured on each text: scores, facts, and the verdict of them."""
    made = [resolve_check(one) for one in checks]
    for card, check in made:
        require(card, engine.model, check)
    draws = draws or default_draws(len(explanations))
    return _judged(engine, explanations, made, draws, seed, progress, around)


def default_draws(texts: int) -> int:
    """Random explanations per text, unless a user says how many: enough that all texts together have 200."""
    return max(1, ceil(_DRAWS / texts))


def _judged(
    engine: Engine,
    explanations: Sequence[Explanation],
    checks: Sequence[tuple[CheckCard, Check[Any]]],
    draws: int,
    seed: int,
    progress: bool | None,
    around: Around = unchanged,
) -> Iterator[VerdictBuilder]:
    """One for each check; all texts and all random explanations of them go through the engine together."""
    sets = with_random(explanations, draws)
    return (_builder(engine, sets, one, seed, progress, around) for one in checks)


def _builder(
    engine: Engine,
    sets: list[Sequence[Explanation]],
    chosen: tuple[CheckCard, Check[Any]],
    seed: int,
    progress: bool | None,
    around: Around = unchanged,
) -> VerdictBuilder:
    """What one check measures on explanations (the first set) and on random ones (the others)."""
    card, check = chosen
    explanations = sets[0]
    about, run = explanations[0].about, partial(_run, engine, card.title.lower(), progress, around)
    builder = VerdictBuilder(about.method, about.parameters, card, parameters(check), engine.model.name, seed)
    for e, result in zip(explanations, measure(check, sets, run), strict=True):
        if result.error is not None:
            raise result.error
        builder.add(result, e.warnings, isinstance(e, TextExplanation) and e.truncated)
    if builder.empty:
        if len(explanations) == 1:  # a text, or what was said of a whole sample
            raise BadInput(f"{card.name} cannot be asked here: {'; '.join(builder.left_out).rstrip('.')}.")
        why = " ".join(builder.reasons())
        raise BadInput(f"{card.name} can use none of these {len(explanations)} texts: {why}")
    return builder


def _run(
    engine: Engine,
    title: str,
    progress: bool | None,
    around: Around,
    conversations: Sequence[Callable[[], Conversation[T]]],
) -> Iterator[Outcome[T]]:
    """The outcomes as they come; the first error ends the work on all texts."""
    outcomes = engine.run(around(begin()) for begin in conversations)
    for outcome in track(outcomes, len(conversations), title, progress):
        outcome.get()
        yield outcome
