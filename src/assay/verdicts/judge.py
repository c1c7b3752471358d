"""The verb `check`: explanations put to the checks, random explanations of the same texts beside them.

A check examines one explanation. It may do more: `prepare` itself on all maps of a set (tune a threshold), say which
texts it `uses`, hold all maps of a text `against` one thing that is asked once, and `warn` of what it noticed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from math import ceil
from typing import Any

import numpy as np

from assay.engine.engine import Engine
from assay.errors import BadInput, NonFiniteAnswer
from assay.explanations.token_scores import TokenScores
from assay.models import load
from assay.progress import track
from assay.questions.base import Conversation
from assay.registry.cards import CheckCard
from assay.registry.finding import find_check, find_method, require
from assay.registry.measured import Measured, mean_facts
from assay.registry.parameters import parameters
from assay.verbs import card_and_object, explain
from assay.verdicts.verdict import Verdict

_DRAWS = 200


def check(
    model: Any,
    texts: Any,
    methods: Sequence[Any],
    checks: Sequence[Any],
    *,
    draws: int | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    progress: bool | None = None,
    **aims: Any,
) -> list[Verdict]:
    """Put every method to every check on these texts; random explanations of the same texts go along.

    `draws` is the number of random explanations per text: by default enough that all texts together have 200.
    """
    engine = engine or Engine(load(model))
    given = texts if isinstance(texts, list) else [texts]
    if not given:
        raise BadInput("there is no text to check.")
    draws = draws or default_draws(len(given))
    made = [card_and_object(one, {}, find_check) for one in checks]
    for card, _ in made:
        require(card, engine.model.answers, engine.model.name)
        require_readable(card, methods)
    told = [explain(model, given, one, engine=engine, progress=progress, seed=seed, **aims) for one in methods]
    return [
        verdict for explanations in told for verdict in _verdicts(engine, explanations, made, draws, seed, progress)
    ]


def judge(
    engine: Engine,
    explanations: Sequence[TokenScores],
    checks: Sequence[Any],
    *,
    draws: int | None = None,
    seed: int = 0,
    progress: bool | None = None,
) -> list[Verdict]:
    """The verdicts on explanations that are there already: all by one method, one for each text."""
    made = [card_and_object(one, {}, find_check) for one in checks]
    for card, _ in made:
        require(card, engine.model.answers, engine.model.name)
    draws = draws or default_draws(len(explanations))
    return list(_verdicts(engine, explanations, made, draws, seed, progress))


def default_draws(texts: int) -> int:
    """Random explanations per text, if nobody says: enough that all texts together have 200."""
    return max(1, ceil(_DRAWS / texts))


def require_readable(card: CheckCard[Any], methods: Sequence[Any]) -> None:
    for one in methods:
        made_by, _ = card_and_object(one, {}, find_method)
        if not issubclass(made_by.returns, card.reads):
            told = f"{made_by.name} returns {made_by.returns.__name__}"
            raise BadInput(f"{card.name} reads {card.reads.__name__}, but {told}.")


def _verdicts(
    engine: Engine,
    explanations: Sequence[TokenScores],
    checks: Sequence[tuple[CheckCard[Any], Any]],
    draws: int,
    seed: int,
    progress: bool | None,
) -> Iterator[Verdict]:
    """One verdict per check; all texts and all random draws of them go through the engine together."""
    sets = [list(explanations), *zip(*(random_maps(e, draws) for e in explanations), strict=True)]
    for card, check in checks:
        prepared = [prepared_for(check, maps) for maps in sets]
        used = _used(card, prepared[0], explanations)
        told = _told(partial(_run, engine, card.title.lower(), progress), prepared, sets, used)
        table = np.array([one.score for one in told]).reshape(len(used), draws + 1)
        yield Verdict(
            explanations[0].about.method,
            card.name,
            card.better,
            table[:, 0],
            table[:, 1:],
            warnings=tuple(_warnings(prepared[0], [explanations[i] for i in used])),
            parameters=parameters(check),
            model=engine.model.name,
            seed=seed,
            facts=mean_facts(told[:: draws + 1]),
            chance=getattr(check, "chance", "beat"),
            method_parameters=explanations[0].about.parameters,
        )


def _run(engine: Engine, title: str, progress: bool | None, talks: list[Conversation[Any]]) -> list[Any]:
    return [outcome.get() for outcome in track(engine.run(talks), len(talks), title, progress)]


def _told(
    run: Callable[[list[Conversation[Any]]], list[Any]],
    checks: Sequence[Any],
    sets: Sequence[Sequence[TokenScores]],
    used: Sequence[int],
) -> list[Measured]:
    """What is said text by text, of the explanation first, then of the random maps.

    A check that holds all maps of a text against the same thing, such as the map of another model, asks for it once.
    """
    pairs = list(zip(checks, sets, strict=True))
    if hasattr(checks[0], "against"):
        seen = run([checks[0].against(sets[0][i]) for i in used])
        told = [one.measure(maps[i], known) for i, known in zip(used, seen, strict=True) for one, maps in pairs]
    else:
        told = run([one.examine(maps[i]) for i in used for one, maps in pairs])
    return [_finite(Measured.of(one)) for one in told]


def _finite(told: Measured) -> Measured:
    """A check that cannot measure a text says so; NaN is never averaged."""
    if not np.isfinite([told.score, *told.facts.values()]).all():
        raise NonFiniteAnswer(f"a check measured NaN or infinity: {told}.")
    return told


def prepared_for(check: Any, maps: Sequence[TokenScores]) -> Any:
    """A check that learns something from all maps of a set, such as a threshold, does it now."""
    return check.prepare(maps) if hasattr(check, "prepare") else check


def _used(card: CheckCard[Any], check: Any, explanations: Sequence[TokenScores]) -> list[int]:
    """The texts that the verdict is about; a check may hold some out, and the random maps of these go with them."""
    uses = getattr(check, "uses", lambda e: True)
    if used := [i for i, e in enumerate(explanations) if uses(e)]:
        return used
    raise BadInput(f"{card.name} can use none of these {len(explanations)} texts; give it more or other ones.")


def random_maps(e: TokenScores, draws: int) -> Iterator[TokenScores]:
    """Random scores for the same text, of the same norm; everything else as in the explanation they stand beside.

    Where that has no sign (norms, attention), they have none: a check may count words above zero.
    """
    rng = np.random.default_rng([e.case.seed, e.text.seed, 1])
    size = np.linalg.norm(e.scores)
    for _ in range(draws):
        drawn = rng.standard_normal(len(e.text))
        scores = drawn if e.facts.get("signed", True) else np.abs(drawn)
        yield e.told(scores=scores * (size / np.linalg.norm(scores)) if size else scores)


def _warnings(check: Any, explanations: Sequence[TokenScores]) -> Iterator[str]:
    eraser = explanations[0].about.parameters.get("eraser")
    if eraser is not None and eraser == parameters(check).get("eraser"):
        yield (
            f"same eraser: method and check both take words away by {eraser!r}, which favours the method; "
            "compare with another eraser."
        )
    for said in sorted({warning for e in explanations for warning in e.warnings}):
        count = sum(said in e.warnings for e in explanations)
        yield f"{said} ({count} of {len(explanations)} texts)"
    if cut := sum(e.truncated for e in explanations):
        yield f"truncated: {cut} of {len(explanations)} texts were longer than the model's window."
    if hasattr(check, "warn"):
        yield from check.warn(explanations)
