"""The verb `given`: scores that another tool made, as explanations of a model's answers.

assay.given(model, text, shap_values[0])            shows itself, saves itself, like any explanation
assay.check(model, texts, scores={"mine": [...]}, checks=["deletion"])
assay.trust(model, text, scores={"mine": ...})
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from assay.engine.engine import Engine
from assay.errors import AssayError, BadInput
from assay.explanations.about import About
from assay.explanations.explanation_list import Explanations
from assay.explanations.given import GivenScores
from assay.explanations.token_scores import TokenScores
from assay.models import TextModel, load
from assay.questions.base import Conversation
from assay.request import Aims, ModelLike
from assay.text.sample import Sample
from assay.text.text import Text, TextLike
from assay.verbs import PreparedRequest, explained, versions

_NAME = "given"


def given(
    model: ModelLike,
    texts: TextLike | list[TextLike],
    scores: Any,
    *,
    name: str = _NAME,
    engine: Engine | None = None,
    **aims: Any,
) -> Any:
    """Scores that another tool made of a text (or of a list of texts, then a list), as explanations.

    `scores` are an array, a list of (word, score), a dictionary, or what shap, LIME, captum, ferret, inseq or
    interpreto give; `name` is what the scores are called, `aims` are what `explain` takes: target, against, scalar,
    focus, split, seed.
    """
    engine = engine or Engine(load(model))
    if isinstance(texts, list):
        return Explanations(
            given_explanations(engine, texts, name, named_scores({name: scores}, len(texts))[name], Aims(**aims))
        )
    return next(given_explanations(engine, [texts], name, [scores], Aims(**aims)))


def named_scores(scores: Any, texts: int) -> Mapping[str, Sequence[Any]]:
    """What a user gave as scores: for each name as many as there are texts; one text needs no list around its own."""
    if scores is None:
        return {}
    by_name = scores if isinstance(scores, Mapping) and "scores" not in scores else {_NAME: scores}
    if texts == 1:
        return {name: _of_one_text(one) for name, one in by_name.items()}
    for name, one in by_name.items():
        if isinstance(one, str) or not isinstance(one, Sequence) or len(one) != texts:
            found = f"{len(one)}" if isinstance(one, Sequence) else type(one).__name__
            raise BadInput(f"there are {texts} texts, so the scores of {name!r} are a list of as many, not {found}.")
    return dict(by_name)


def _of_one_text(source: Any) -> Sequence[Any]:
    """A list of one is the scores of the only text; a list of numbers or pairs is the scores themselves."""
    wrapped = isinstance(source, list | tuple) and len(source) == 1
    first = source[0] if wrapped else None
    pair = isinstance(first, tuple | list) and len(first) == 2 and isinstance(first[0], str)
    return list(source) if wrapped and not isinstance(first, int | float) and not pair else [source]


def all_given(prepared: PreparedRequest) -> Iterator[tuple[TokenScores, ...]]:
    """For each name among the given scores of a request, its explanations of all texts."""
    for name, sources in named_scores(prepared.scores, len(prepared.texts)).items():
        texts = list(prepared.texts.texts if isinstance(prepared.texts, Sample) else prepared.texts)
        yield tuple(given_explanations(prepared.engine, texts, name, sources, prepared.aims))


def given_explanations(
    engine: Engine, texts: Sequence[TextLike], name: str, sources: Sequence[Any], aims: Aims
) -> Iterator[TokenScores]:
    """An explanation for each text; the model is asked only what it predicts."""
    model = engine.model
    facts: dict[str, Any] = {"model": model.name, "versions": versions(), "seed": aims.seed}
    about = About(method=name, title=name, given=True, **facts)
    pairs = zip(texts, sources, strict=True)
    outcomes = engine.run(_explained(model, text, source, aims) for text, source in pairs)
    for i, outcome in enumerate(outcomes, start=1):
        if isinstance(outcome.error, AssayError) and len(texts) > 1:
            raise type(outcome.error)(f"text {i}: {outcome.error}") from outcome.error
        e = outcome.get()
        yield e.told(about=replace(about, cost=outcome.cost, labels=tuple(e.prediction)))


def _explained(model: TextModel, text: TextLike, source: Any, aims: Aims) -> Conversation[TokenScores]:
    whole = Text.of(text, names=model.fields, focus=aims.focus or model.focus, split=aims.split)
    return explained(model, GivenScores(source, whole, model.labels, model.pieces_of), text, aims)
