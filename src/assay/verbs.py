"""The verbs `explain` and `describe`, and how a request is taken apart; shells and notebooks come through here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Literal, TypeVar, cast

from assay.engine.engine import Engine, Outcome
from assay.engine.threads import with_threads
from assay.errors import AssayError, BadInput, UnknownName
from assay.explanations.base import Explanation
from assay.explanations.by_token import explained_by_token, require_by_token
from assay.explanations.labels import aims_for_labels, batched, grouped, product_of
from assay.explanations.reading import Explains, read
from assay.explanations.reading import label_index as label_index
from assay.explanations.text_explanation import TextExplanation
from assay.models import TextModel, load
from assay.models.transformers.precision import SAMPLE, Lowered, difference, facts, sentence
from assay.progress import ticking, track
from assay.questions.aims import Aims as Aims
from assay.questions.answers import Scalar
from assay.questions.base import Conversation, changed
from assay.questions.cases import with_aims
from assay.questions.each import Each
from assay.registry.cards import Card, CheckCard, MethodCard, distinct_name
from assay.registry.finding import describing, explaining, require, resolve_check, resolve_method
from assay.registry.fitting import any_readable, require_readable, require_sample
from assay.registry.protocols import Check, Method
from assay.registry.provenance import provenance as provenance
from assay.registry.provenance import versions as versions
from assay.registry.provenance import with_provenance as with_provenance
from assay.registry.recommended import recommended
from assay.request import MethodLike, ModelLike, Request, TextSource, listed, named_methods
from assay.text.sample import NO_SAMPLE, Sample
from assay.text.splitting import Splitter
from assay.text.text import TextLike

E = TypeVar("E", bound=TextExplanation)
T = TypeVar("T")


@dataclass(frozen=True)
class PreparedRequest:
    """A request with its names found and its model loaded; what cannot be done has been refused."""

    engine: Engine
    texts: list[TextLike] | Sample
    methods: Sequence[tuple[MethodCard, Method]]
    checks: Sequence[tuple[CheckCard, Check[Any]]]
    aims: Aims
    draws: int | None
    scores: Any = None

    @property
    def sample(self) -> Sample:
        """The texts as a method describes them, all together."""
        return sample_for(self.engine.model, self.texts)


def sample_for(model: TextModel, source: Any) -> Sample:
    """A sample for this model; in a list, two strings are a pair for a model that reads two, else text and label."""
    if isinstance(source, Sample) and source is NO_SAMPLE:
        return NO_SAMPLE
    if len(model.fields) - model.optional == 2 and isinstance(source, list):
        source = [(row, None) if isinstance(row, tuple) and isinstance(row[0], str) else row for row in source]
    return Sample.of(source).require_rows()


def prepare(request: Request, engine: Engine | None = None, *, some: bool = False) -> PreparedRequest:
    """Take a request apart, what costs little first; with `some`, one check that can be asked is enough."""
    methods = [resolve_method(one) for one in request.methods or ()]
    checks = [resolve_check(one) for one in request.checks or ()]
    if not (some and any_readable(methods, checks)):
        require_readable(methods, checks)
    if isinstance(request.texts, TextSource) or not (request.texts or request.texts is NO_SAMPLE):
        raise BadInput("there is no text to explain.")
    require_sample(methods, request.texts)
    engine = engine or Engine(load(request.model, device=request.device, dtype=request.dtype))
    asked: list[tuple[Card[Any], object]] = [*methods, *(() if some else checks)]
    for card, made in asked:
        require(card, engine.model, made)
    texts = request.texts if isinstance(request.texts, Sample) else list(request.texts)
    return PreparedRequest(engine, texts, methods, checks, request.aims, request.draws, request.scores)


@with_threads
def explain(
    model: ModelLike,
    /,
    texts: TextLike | list[TextLike],
    method: MethodLike | Sequence[MethodLike] | None = None,
    *,
    target: str | int | None = None,
    against: str | int | None = None,
    scalar: Scalar = "log_odds",
    focus: Sequence[str] | None = None,
    split: str | Splitter = "words",
    seed: int = 0,
    tokens: Literal["each"] | None = None,
    errors: Literal["raise", "keep"] = "raise",
    device: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Any:
    """Explain one text, or a list of them, by a method.

    `method` is a name (its parameters follow as keywords), an object, or a list of these, which gives a dictionary by
    name; by default the recommended one. `target` is the label to explain (by default the predicted one; "all" gives a
    list of one explanation per label), `against` another to contrast it with, `scalar` log_odds, probability or logit.
    A pair is a tuple of two strings; `focus` names the fields to explain; tokens="each" explains each token of a
    continuation. Many texts give a list, errors="keep" errors in their places. `threads` compute while it runs.
    """
    given, many = listed(texts)
    aims = Aims(target=target, against=against, scalar=scalar, focus=focus, split=split, seed=seed, tokens=tokens)
    engine = engine or Engine(load(model, device=device))
    labels, keep = len(aims_for_labels(engine.model, aims)), _keeps(errors)

    def results(one: Any) -> Any:
        outcomes = stream(model, given, one, aims=aims, engine=engine, **settings)
        return grouped(list(collected(outcomes, len(given), progress, keep=keep, labels=labels)), labels, many)

    if isinstance(method, list | tuple):
        return {distinct_name(*resolve_method(one, settings)): results(one) for one in named_methods(method)}
    return results(method or recommended(engine.model.answers, () if settings else given).card.name)


def _keeps(errors: str) -> bool:
    """Whether errors are kept in the place of explanations."""
    if errors not in ("raise", "keep"):
        raise UnknownName.of("way with errors", errors, ("raise", "keep"))
    return errors == "keep"


@with_threads
def stream(
    model: ModelLike,
    /,
    texts: Iterable[TextLike],
    method: MethodLike,
    *,
    aims: Aims | None = None,
    device: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    **settings: Any,
) -> Iterator[Outcome[TextExplanation]]:
    """The outcome for each text in turn, in bounded memory however many there are; errors come as outcomes.

    With target="all" each text has as many outcomes as there are labels; what they all ask is asked once.
    """
    engine = engine or Engine(load(model, device=device))
    card, found = resolve_method(method, settings)
    made = explaining(card, found)
    require(card, engine.model, made)
    each = aims_for_labels(engine.model, aims or Aims())
    require_by_token(each[0].tokens, card.name, card.returns)
    about = provenance(card, made, engine.model, each[0].seed)
    waiting = product_of(texts, each)
    first, note = _against_full(engine, made, waiting, each)
    for outcome in chain(first, engine.run(explained(engine.model, made, *pair) for pair in waiting)):
        result = outcome.result and note(with_provenance(outcome.result, about, outcome.cost))
        yield Outcome(result, outcome.error, outcome.cost)


def explain_each(prepared: PreparedRequest, progress: bool | None = None) -> Iterator[tuple[TextExplanation, ...]]:
    """For each text in turn, what every method says, of every label if all are asked for."""
    many = len(prepared.texts)
    labels = len(aims_for_labels(prepared.engine.model, prepared.aims))
    found = (collected(_stream(prepared, method), many, False, labels=labels) for _, method in prepared.methods)
    streams = [batched(one, labels) for one in found]
    by_text = (tuple(chain.from_iterable(of_text)) for of_text in zip(*streams, strict=True))
    return track(by_text, many, "explaining", progress)


def explain_by(prepared: PreparedRequest, method: Method, progress: bool | None = None) -> list[TextExplanation]:
    """What one method says of all texts, of one label."""
    if len(aims_for_labels(prepared.engine.model, prepared.aims)) > 1:
        raise BadInput('target="all" is for explain; a test is about one label, so name it.')
    return list(collected(_stream(prepared, method), len(prepared.texts), progress))


def _stream(prepared: PreparedRequest, method: Method) -> Iterator[Outcome[TextExplanation]]:
    texts = prepared.texts.texts if isinstance(prepared.texts, Sample) else prepared.texts
    return stream(prepared.engine.model, texts, method, aims=prepared.aims, engine=prepared.engine)


def collected(
    outcomes: Iterable[Outcome[TextExplanation]],
    texts: int,
    progress: bool | None = None,
    *,
    keep: bool = False,
    labels: int = 1,
) -> Iterator[Any]:
    """The explanations; an error says which of several texts it is about, or is kept in its explanation's place."""
    for k, outcome in enumerate(track(outcomes, texts * labels, "explaining", progress)):
        i = k // labels + 1
        if keep and isinstance(outcome.error, AssayError):
            yield outcome.error
            continue
        if texts > 1 and isinstance(outcome.error, AssayError):
            raise type(outcome.error)(f"text {i}: {outcome.error}") from outcome.error
        yield outcome.get()


@with_threads
def describe(
    model: ModelLike,
    /,
    sample: Any = None,
    method: MethodLike = "",
    *,
    target: str | int | None = None,
    against: str | int | None = None,
    scalar: Scalar = "log_odds",
    focus: Sequence[str] | None = None,
    split: str | Splitter = "words",
    seed: int = 0,
    device: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> Any:
    """Describe by a method what the model does with a whole sample, or what the model is, without one.

    `sample` is a list of texts or of (text, label), a frame, a path, or a Sample (`Sample.of` says which columns); None
    describes the model alone, by a method that can: describe(model, method="projection"). `method` is a name (its
    parameters follow as keywords) or a method object. The other arguments are those of `explain`, for the explanations
    of single texts that a description may rest on.
    """
    engine = engine or Engine(load(model, device=device))
    card, made = resolve_method(method, settings)
    require(card, engine.model, describing(card, made))
    sample = NO_SAMPLE if sample is None else sample
    require_sample([(card, made)], sample)
    aims = Aims(target=target, against=against, scalar=scalar, focus=focus, split=split, seed=seed)
    prepared = PreparedRequest(engine, sample_for(engine.model, sample), [(card, made)], (), aims, None)
    return describe_by(prepared, card, made, progress)


def describe_by(
    prepared: PreparedRequest, card: MethodCard, method: Method, progress: bool | None = None
) -> Explanation:
    """What one method says of the whole sample."""
    engine, sample = prepared.engine, prepared.sample
    with ticking(None if progress is False else len(sample) or None, "describing", progress) as tick:
        conversation = with_aims(describing(card, method).describe(sample), prepared.aims)
        outcome = next(engine.run([_counting(conversation, tick)]))
    found: Explanation = outcome.get()
    about = replace(provenance(card, method, engine.model, prepared.aims.seed), cost=outcome.cost)
    return found.told(about=about, warnings=(*found.warnings, *_unmeasured(engine.model)))


def _counting(conversation: Conversation[T], tick: Callable[[], None]) -> Conversation[T]:
    """The same conversation, which ticks whenever one of the conversations that it opens has ended."""

    def counted(child: Conversation[Any]) -> Conversation[Any]:
        result = yield from child
        tick()
        return result

    return changed(conversation, lambda it: it.with_children(counted) if isinstance(it, Each) else it)


def _unmeasured(model: TextModel) -> list[str]:
    """A description in half precision is not made a second time in float32, as explanations of texts are."""
    return [f"{model.dtype}: not measured against float32"] if isinstance(model, Lowered) else []


def _against_full(
    engine: Engine, method: Explains[TextExplanation], asked: Iterator[tuple[TextLike, Aims]], aims: Sequence[Aims]
) -> tuple[list[Outcome[TextExplanation]], Callable[[TextExplanation], TextExplanation]]:
    """In half precision the first texts are explained in float32 too; how well the two agree is told of all texts."""
    model = engine.model
    if not isinstance(model, Lowered):
        return [], lambda e: e
    found = model.measured.setdefault(repr((method, *aims)), {})
    sample = list(islice(asked, SAMPLE - len(found)))
    low = list(engine.run(explained(model, method, *pair) for pair in sample))
    new = {repr(pair): i for i, pair in enumerate(sample) if repr(pair) not in found}
    whole = Engine(model.reference, resolve=engine.resolve)
    full = whole.run(explained(whole.model, method, *sample[i]) for i in new.values())
    pairs = zip(new, [low[i].result for i in new.values()], [outcome.result for outcome in full], strict=True)
    found |= {text: difference(a, b) for text, a, b in pairs if a and b}
    known = facts(model.dtype, list(found.values()))
    warning = sentence(known)
    return low, lambda e: e.told(facts={**e.facts, "precision": known}, warnings=(*e.warnings, warning))


def explained(model: TextModel, method: Explains[E], source: TextLike, aims: Aims) -> Conversation[E]:
    """Read the text, settle what is explained, and let the method talk."""
    if aims.tokens is not None:
        return cast(E, (yield from explained_by_token(model, method, source, aims)))
    reading = yield from read(model, source, aims)
    return (yield from reading.explained_by(method))
