"""The verbs: explain texts, check explanations. Shells, notebooks and runs all come through here."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from math import ceil
from typing import Any, overload

import numpy as np

from assay.ask import Conversation, Predict, Predictions, Scalar, Settle
from assay.engine import Engine, Outcome
from assay.errors import BadInput, UnknownName
from assay.explanation import About, Case, Explanation, TokenScores
from assay.models import TextModel, load
from assay.progress import track
from assay.registry import CHECKS, METHODS, Card, CheckCard, find_check, find_method, parameters, require
from assay.text import Splitter, Text, TextLike
from assay.verdict import Verdict

_DRAWS = 200


@dataclass(frozen=True, kw_only=True)
class Aims:
    """What is explained about every text: which label, on which scale, which words."""

    target: str | int | None = None
    against: str | int | None = None
    scalar: Scalar = "log_odds"
    focus: Sequence[str] | None = None
    split: str | Splitter = "words"
    seed: int = 0


@overload
def explain(model: Any, texts: TextLike, method: Any, **options: Any) -> Any: ...
@overload
def explain(model: Any, texts: list[TextLike], method: Any, **options: Any) -> list[Any]: ...
def explain(
    model: Any,
    texts: Any,
    method: Any,
    *,
    target: str | int | None = None,
    against: str | int | None = None,
    scalar: Scalar = "log_odds",
    focus: Sequence[str] | None = None,
    split: str | Splitter = "words",
    seed: int = 0,
    engine: Engine | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Any:
    """Explain one text, or a list of them, by a method.

    `method` is a name (its parameters follow as keywords) or a method object. `target` is the label to explain, by
    default the predicted one; `against` another label, for a contrast of the two; `scalar` the number: log_odds,
    probability or logit. A pair is a tuple of two strings; `focus` names the fields to explain. A list gives a list.
    """
    many = isinstance(texts, list)
    aims = Aims(target=target, against=against, scalar=scalar, focus=focus, split=split, seed=seed)
    given = texts if many else [texts]
    outcomes = stream(model, given, method, aims=aims, engine=engine, **settings)
    results = [outcome.get() for outcome in track(outcomes, len(given), "explaining", progress)]
    return results if many else results[0]


def stream(
    model: Any,
    texts: Iterable[TextLike],
    method: Any,
    *,
    aims: Aims | None = None,
    engine: Engine | None = None,
    **settings: Any,
) -> Iterator[Outcome[Explanation]]:
    """The outcome for each text in turn, in bounded memory however many there are; errors come as outcomes."""
    engine = engine or Engine(load(model))
    card, method = _made(method, settings, find_method)
    require(card, engine.model.answers, engine.model.name)
    aims = aims or Aims()
    about = _about(card, method, engine.model, aims.seed)
    for outcome in engine.run(_explained(engine.model, method, text, aims) for text in texts):
        told = outcome.result and outcome.result.told(about=replace(about, cost=outcome.cost))
        yield replace(outcome, result=told)


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
    draws = draws or max(1, ceil(_DRAWS / len(given)))
    made = [_made(one, {}, find_check) for one in checks]
    for card, _ in made:
        require(card, engine.model.answers, engine.model.name)
        _require_readable(card, methods)
    told = [explain(model, given, one, engine=engine, progress=progress, seed=seed, **aims) for one in methods]
    return [
        verdict for explanations in told for verdict in _verdicts(engine, explanations, made, draws, seed, progress)
    ]


def _require_readable(card: CheckCard[Any], methods: Sequence[Any]) -> None:
    for one in methods:
        made_by, _ = _made(one, {}, find_method)
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
    maps = [e for explanation in explanations for e in (explanation, *_random_maps(explanation, draws))]
    for card, check in checks:
        outcomes = track(engine.run(map(check.examine, maps)), len(maps), card.title.lower(), progress)
        table = np.array([outcome.get() for outcome in outcomes]).reshape(len(explanations), draws + 1)
        yield Verdict(
            explanations[0].about.method,
            card.name,
            card.better,
            table[:, 0],
            table[:, 1:],
            warnings=tuple(_warnings(check, explanations)),
            parameters=parameters(check),
            model=engine.model.name,
            seed=seed,
        )


def _random_maps(e: TokenScores, draws: int) -> Iterator[TokenScores]:
    """Random scores for the same text; everything else as in the explanation they are compared with."""
    rng = np.random.default_rng([e.case.seed, e.text.seed, 1])
    return (e.told(scores=rng.standard_normal(len(e.text))) for _ in range(draws))


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


def _explained(model: TextModel, method: Any, source: TextLike, aims: Aims) -> Conversation[Explanation]:
    """Read the text, settle what is explained, and let the method talk."""
    whole = Text.of(source, names=model.fields, focus=aims.focus or model.focus, split=aims.split).require_words()
    text = model.clip(whole).require_words()
    if Settle in model.answers:
        text = yield Settle(text)
    answer = yield Predict(text)
    target = _target(model, answer) if aims.target is None else label_index(model, aims.target)
    against = None if aims.against is None else label_index(model, aims.against)
    explanation = yield from method.explain(Case(text, target, aims.scalar, against, aims.seed))
    chances = dict(zip(model.labels, answer.probabilities[0].tolist(), strict=True))
    return explanation.told(  # type: ignore[no-any-return]
        prediction=chances,
        unseen=tuple(_unseen(whole, text)),
        given=whole.strings if len(whole) > len(text) else (),
        warnings=(*explanation.warnings, *_cut_context(whole, text)),
    )


def _target(model: TextModel, answer: Predictions) -> int:
    """What is explained if nobody says."""
    return int(answer.argmax()[0]) if model.target is None else model.target


def _unseen(whole: Text, seen: Text) -> Iterator[tuple[int, int]]:
    """The spans of the words that the model did not see."""
    for all_of_it, part in zip(whole.explained, seen.explained, strict=True):
        yield from all_of_it.spans[len(part.spans) :]


def _cut_context(whole: Text, seen: Text) -> Iterator[str]:
    """Fields that are not explained can be cut too; then the model saw less than the user gave."""
    for all_of_it, part in zip(whole.fields, seen.fields, strict=False):  # an answer may have been added
        if all_of_it.name not in whole.focus and all_of_it != part:
            yield f"truncated: the model saw only a part of the field {all_of_it.name!r}"


def label_index(model: TextModel, label: str | int) -> int:
    """A label by its name, or by its number."""
    if isinstance(label, str) and label in model.labels:
        return model.labels.index(label)
    if str(label).isdecimal() and int(label) < len(model.labels):
        return int(label)
    raise UnknownName.of("label", label, model.labels)


def _made(thing: Any, settings: Mapping[str, Any], find: Any) -> tuple[Any, Any]:
    """The card and the object, from a name or from the object."""
    if isinstance(thing, str):
        card = find(thing)
        return card, card.make(settings)
    known = METHODS | CHECKS
    card = next((card for card in known.values() if card.make_from is type(thing)), None)
    if card is None:
        raise UnknownName(f"{thing!r} is neither a method nor a check; give a name, as listed by `assay methods`.")
    return card, thing


def _about(card: Card[Any], method: Any, model: TextModel, seed: int) -> About:
    return About(
        method=card.name,
        title=card.title,
        parameters=parameters(method),
        model=model.name,
        labels=model.labels,
        versions=versions(),
        seed=seed,
    )


@cache
def versions() -> dict[str, str]:
    """The versions that an explanation depends on."""
    found = {}
    for package in ("assay", "torch", "transformers", "numpy"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found
