"""The verbs: explain texts, check explanations. Shells, notebooks and runs all come through here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, islice
from math import ceil
from typing import Any, overload

import numpy as np

from assay.ask import Conversation, Predict, Predictions, Scalar, Settle
from assay.engine import Engine, Outcome
from assay.errors import BadInput, NonFiniteAnswer, UnknownName
from assay.explanation import About, Case, Explanation, TokenScores
from assay.models import TextModel, load
from assay.models.precision import SAMPLE, Lowered, difference, facts, sentence
from assay.progress import track
from assay.registry import CHECKS, METHODS, Card, CheckCard, find_check, find_method, parameters, require
from assay.text import Splitter, Text, TextLike
from assay.verdict import Measured, Verdict, mean_facts

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
    card, method = card_and_object(method, settings, find_method)
    require(card, engine.model.answers, engine.model.name)
    aims = aims or Aims()
    about = provenance(card, method, engine.model, aims.seed)
    waiting = iter(texts)
    first, note = _against_full(engine, method, waiting, aims)
    for outcome in chain(first, engine.run(explained(engine.model, method, text, aims) for text in waiting)):
        told = outcome.result and note(_of_its_own(outcome.result, replace(about, cost=outcome.cost)))
        yield replace(outcome, result=told)


def _of_its_own(e: Explanation, about: About) -> Explanation:
    """Where it comes from; its labels go by their names for this text."""
    return e.told(about=replace(about, labels=tuple(e.prediction)))


def _against_full(
    engine: Engine, method: Any, texts: Iterator[TextLike], aims: Aims
) -> tuple[list[Outcome[Explanation]], Callable[[Explanation], Explanation]]:
    """In half precision the first texts are explained in float32 too; how well the two agree is told of all texts."""
    model = engine.model
    if not isinstance(model, Lowered):
        return [], lambda e: e
    found = model.measured.setdefault(repr((method, aims)), {})
    sample = list(islice(texts, SAMPLE - len(found)))
    low = list(engine.run(explained(model, method, text, aims) for text in sample))
    new = {repr(text): i for i, text in enumerate(sample) if repr(text) not in found}
    whole = Engine(model.reference, resolve=engine.resolve)
    full = whole.run(explained(whole.model, method, sample[i], aims) for i in new.values())
    pairs = zip(new, [low[i].result for i in new.values()], [outcome.result for outcome in full], strict=True)
    found |= {text: difference(a, b) for text, a, b in pairs if a and b}
    known = facts(model.dtype, list(found.values()))
    said = sentence(known)
    return low, lambda e: e.told(facts={**e.facts, "precision": known}, warnings=(*e.warnings, said))


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
    """Random scores for the same text, of the same norm; everything else as in the explanation they stand beside."""
    rng = np.random.default_rng([e.case.seed, e.text.seed, 1])
    size = np.linalg.norm(e.scores)
    for _ in range(draws):
        scores = rng.standard_normal(len(e.text))
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


def explained(model: TextModel, method: Any, source: TextLike, aims: Aims) -> Conversation[Explanation]:
    """Read the text, settle what is explained, and let the method talk."""
    whole = Text.of(source, names=model.fields, focus=aims.focus or model.focus, split=aims.split).require_words()
    seen = model.clip(whole).require_words()
    text = (yield Settle(seen)).require_words() if Settle in model.answers else seen
    answer = yield Predict(text)
    target = _target(model, answer) if aims.target is None else label_index(model, aims.target)
    against = None if aims.against is None else label_index(model, aims.against)
    explanation = yield from method.explain(Case(text, target, aims.scalar, against, aims.seed))
    chances = dict(zip(model.names(text), answer.probabilities[0].tolist(), strict=True))
    return explanation.told(  # type: ignore[no-any-return]
        prediction=chances,
        unseen=tuple(_unseen(whole, seen, text)),
        given=_given(whole, seen, text) if len(whole) > len(seen) else (),
        warnings=(*explanation.warnings, *_cut_context(whole, seen)),
    )


def _target(model: TextModel, answer: Predictions) -> int:
    """What is explained if nobody says."""
    return int(answer.argmax()[0]) if model.target is None else model.target


def _unseen(whole: Text, seen: Text, text: Text) -> Iterator[tuple[int, int]]:
    """The spans of the words that the model did not see, in the last field of each string."""
    for (_, start), all_of_it, part in zip(_lasts(text), whole.fields, seen.fields, strict=False):
        if part.name in seen.focus:
            yield from ((a - start, b - start) for a, b in all_of_it.spans[len(part.spans) :])


def _given(whole: Text, seen: Text, text: Text) -> tuple[str, ...]:
    """The strings of the text with what the model did not see of them."""
    strings = list(text.strings)
    for (last, _), all_of_it, part in zip(_lasts(text), whole.strings, seen.strings, strict=False):
        strings[last] += all_of_it[len(part) :]
    return tuple(strings)


def _lasts(text: Text) -> list[tuple[int, int]]:
    """For every string that models read, the last of the fields it stands in, and where this begins in the string."""
    lasts: list[tuple[int, int]] = []
    for i, field in enumerate(text.fields):
        if field.part in ("own", "first"):
            lasts.append((i, 0))
        elif field.part != "note":
            before, start = lasts[-1]
            lasts[-1] = (i, start + len(text.fields[before].string))
    return lasts


def _cut_context(whole: Text, seen: Text) -> Iterator[str]:
    """Fields that are not explained can be cut too; then the model saw less than the user gave."""
    for all_of_it, part in zip(whole.fields, seen.fields, strict=True):
        if all_of_it.name not in whole.focus and all_of_it != part:
            yield f"truncated: the model saw only a part of the field {all_of_it.name!r}"


def label_index(model: TextModel, label: str | int) -> int:
    """A label by its name, or by its number."""
    if isinstance(label, str) and label in model.labels:
        return model.labels.index(label)
    if str(label).isdecimal() and int(label) < len(model.labels):
        return int(label)
    raise UnknownName.of("label", label, model.labels)


def card_and_object(thing: Any, settings: Mapping[str, Any], find: Any) -> tuple[Any, Any]:
    """The card and the object, from a name or from the object."""
    if isinstance(thing, str):
        card = find(thing)
        return card, card.make(settings)
    known = METHODS | CHECKS
    card = next((card for card in known.values() if card.make_from is type(thing)), None)
    if card is None:
        raise UnknownName(f"{thing!r} is neither a method nor a check; give a name, as listed by `assay methods`.")
    return card, thing


def provenance(card: Card[Any], method: Any, model: TextModel, seed: int) -> About:
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
