"""The verb `explain`: shells, notebooks and runs all come through here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from itertools import chain, islice
from typing import Any, overload

from assay.engine.engine import Engine, Outcome
from assay.errors import UnknownName
from assay.explanations.about import About
from assay.explanations.base import Explanation
from assay.explanations.reading import label_index as label_index
from assay.explanations.reading import read
from assay.models import TextModel, load
from assay.models.transformers.precision import SAMPLE, Lowered, difference, facts, sentence
from assay.progress import track
from assay.questions.aims import Aims as Aims
from assay.questions.answers import Scalar
from assay.questions.base import Conversation
from assay.registry.cards import CHECKS, METHODS, Card
from assay.registry.finding import find_method, require
from assay.registry.parameters import parameters
from assay.text.splitting import Splitter
from assay.text.text import TextLike


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
    require(card, engine.model.answers, engine.model.name, method)
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


def explained(model: TextModel, method: Any, source: TextLike, aims: Aims) -> Conversation[Explanation]:
    """Read the text, settle what is explained, and let the method talk."""
    reading = yield from read(model, source, aims)
    explanation: Explanation = yield from reading.explained_by(method)
    return explanation


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
