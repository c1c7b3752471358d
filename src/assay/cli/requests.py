"""From the options of a command to the request that the verbs take; the one place where commands build requests."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from assay.cli.options import parts
from assay.cli.settings import made
from assay.cli.sources import none_given, read, require_fields, sample_of
from assay.cli.training import with_index, with_training_set
from assay.engine.engine import Engine
from assay.errors import BadInput
from assay.explanations.reading import Describes
from assay.models import load
from assay.registry.finding import find_check, find_method, resolve_method
from assay.registry.fitting import require_sample
from assay.registry.recommended import Recommendation, recommended
from assay.request import Aims, Request, TextSource
from assay.text.sample import NO_SAMPLE, Sample
from assay.text.scores_file import ScoresFile
from assay.verbs import PreparedRequest, prepare

_SOURCE = ("pair", "file", "column", "pair_column", "limit", "id_column", "label_column", "form")
_AIMS = ("target", "against", "scalar", "split", "seed")
_SAME = (
    "model",
    "draws",
    "every_word",
    "rationale",
    "device",
    "dtype",
    "scores",
    "question",
)  # options that are called like the request's own fields


def request_of(given: Mapping[str, Any]) -> Request:
    """The request that a command's options make; `given` are the options by the names of its parameters."""
    methods, checks = _chosen(given["method"], given.get("checks"), given["parameter"])
    source = {name: given[name] for name in _SOURCE if name in given}
    if given.get("index") is not None:
        methods = with_index(methods or [], given["index"])
    if given.get("train") is not None:
        methods = with_training_set(methods or [], given)
        if not source.get("file"):  # else the columns of both files are called alike
            source |= {"column": None, "pair_column": None}
    return Request(
        texts=TextSource(tuple(given.get("texts") or ()), **source),
        methods=methods,
        checks=checks,
        labels=parts(given.get("labels")),
        aims=Aims(**{name: given[name] for name in _AIMS}, focus=parts(given["focus"]), tokens=given.get("tokens")),
        **{name: given[name] for name in _SAME if name in given},
    )


def with_texts(request: Request) -> Request:
    """The same with the texts read from their source; where a method describes samples, they stay a sample."""
    assert isinstance(request.texts, TextSource)
    if request.scores is not None:
        return _with_scores(request, request.texts)
    if any(isinstance(method, Describes) for method in request.methods or ()):
        if none_given(request.texts):
            require_sample([resolve_method(one) for one in request.methods or ()], NO_SAMPLE)
            return replace(request, texts=NO_SAMPLE)
        return replace(request, texts=sample_of(request.texts))
    return replace(request, texts=read(request.texts))


def _with_scores(request: Request, source: TextSource) -> Request:
    """The same with the texts and the scores of a file of scores."""
    if source.texts or source.file:
        raise BadInput("--scores holds the texts too; give no other texts, and no --file.")
    found = ScoresFile.read(request.scores, source.column, source.pair_column)
    n = source.limit or len(found.texts)
    return replace(request, texts=found.texts[:n], scores={name: rows[:n] for name, rows in found.scores.items()})


def loaded(request: Request) -> Engine:
    """The model of the request, which can read its texts."""
    if request.labels is not None and request.question is None:
        raise BadInput("--labels are the answers to a question about each text; give --question too.")
    how: dict[str, Any] = {"labels": request.labels, "question": request.question}
    model = load(request.model, device=request.device, dtype=request.dtype, **how)
    assert not isinstance(request.texts, TextSource)
    texts = request.texts.texts if isinstance(request.texts, Sample) else request.texts
    require_fields(model.fields[: len(model.fields) - model.optional], texts, model.name)
    return Engine(model)


def prepared(given: Mapping[str, Any]) -> PreparedRequest:
    """What a command works with; what costs little is tried first: names and texts before the model is loaded."""
    request = request_of(given)
    unnamed = not request.methods and request.scores is None
    if unnamed and ("checks" in given or given["method"] is not None):  # a check must be told what it tests
        raise BadInput("--method needs a name, as listed by `assay methods`.")
    if "checks" in given and not request.checks:
        raise BadInput("--check needs a name, as listed by `assay checks`.")
    request = with_texts(request)
    engine = loaded(request)
    if unnamed:
        request = replace(request, methods=[recommendation(engine, request.texts).card.make()])
    return prepare(request, engine, some="checks" in given)


def recommendation(engine: Engine, texts: Any) -> Recommendation:
    """The method for the model and the texts of a request that names none."""
    return recommended(engine.model.answers, texts.texts if isinstance(texts, Sample) else texts)


def _chosen(
    methods: str | None, checks: str | None, settings: list[str] | None
) -> tuple[list[Any] | None, list[Any] | None]:
    """The methods and checks that are named, with their parameters; None where none is."""
    cards = [find_method(name) for name in parts(methods) or []]
    tests = [find_check(name) for name in parts(checks) or []]
    if settings and not (cards or tests):
        raise BadInput("-p sets a parameter of what --method or --check names; name it.")
    chosen, asked = made(cards, tests, settings or [])
    return chosen or None, asked or None
