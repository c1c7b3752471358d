"""What a user asks, whoever passes it on: the command line, a run, a page, or a call in Python.

    Request(model="sst2", texts=["a gripping , funny film"], methods=("lime",), checks=("deletion",))

`assay.verbs.prepare` is the one place where a request is taken apart: names are found, the model is loaded, and what
cannot be done is refused before the model answers anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, TypeAlias

from assay.errors import BadInput, UnknownName
from assay.explanations.by_token import require_by_token
from assay.explanations.token_scores import TokenScores
from assay.models.base import TextModel
from assay.questions.aims import Aims as Aims
from assay.registry.protocols import Check, Method
from assay.registry.sample_task import ExaminesSample
from assay.text.given_texts import texts_of
from assay.text.sample import Sample
from assay.text.text import TextLike

# A bundled name, a directory, a hub name, module:attribute, or a model of any kind that `assay.load` takes.
ModelLike: TypeAlias = Any
MethodLike: TypeAlias = str | Method
CheckLike: TypeAlias = str | Check[Any] | ExaminesSample


def several(given: Any) -> Any:
    """A list of one for a single name or object, so that `"lime"` does as well as `["lime"]`."""
    return given if given is None or (isinstance(given, Sequence) and not isinstance(given, str)) else [given]


def named_methods(given: Sequence[MethodLike]) -> Sequence[MethodLike]:
    """A list of methods, of which there must be one."""
    if not given:
        raise BadInput("the list of methods is empty; name one, or leave it out for the recommended one.")
    return given


def listed(texts: Any) -> tuple[list[Any], bool]:
    """Texts as a list, and whether there are many (text/given_texts.py); a text or a pair is one."""
    if isinstance(texts, TextModel) or callable(texts) or hasattr(texts, "predict_proba"):
        raise BadInput("the model comes first, then the texts: explain(model, texts, method).")
    return texts_of(texts)


def aims_of(verb: str, seed: int, given: Mapping[str, Any]) -> Aims:
    """The aims among a verb's keyword arguments, where parameters of methods do not belong."""
    known = [one.name for one in fields(Aims) if one.name != "tokens"] + [
        "methods",
        "checks",
        "scores",
        "draws",
        "device",
        "threads",
    ]
    for name in given:
        if name == "tokens" and given[name] is not None:
            require_by_token(given[name], verb, TokenScores, tested=True)
        if name not in (*known, "tokens"):
            error = str(UnknownName.of(f"argument of {verb}", name, known))
            how = f"assay.registry.find_method('lime').make({{{name!r}: ...}})"
            hint = f" A parameter of a method or a check goes with its object, as in {how}."
            raise UnknownName(error if "did you mean" in error else error + hint)
    return Aims(seed=seed, **given)


@dataclass(frozen=True)
class TextSource:
    """Where texts are read from: arguments (`-` is stdin) and one second text for all of them, or a file."""

    texts: tuple[str, ...] = ()
    pair: str | None = None
    file: str | Path | None = None
    column: str | None = None
    pair_column: str | None = None
    limit: int | None = None
    id_column: str | None = None
    label_column: str | None = None
    form: str | None = None  # how stdin is read: txt, jsonl, csv or tsv


@dataclass(frozen=True, kw_only=True)
class Request:
    """A model, texts or where they are, and what is wanted of them.

    Methods and checks are names or objects; None stands for those that suit the model (`trust`). `scores` were made by
    another tool: by name, those of each text (`assay.verdicts.given`). `draws` is the number of random explanations per
    text beside which a check sees an explanation; None leaves it to the verb. `every_word` is about the trust card of
    a long text, which goes by sentences first otherwise; `rationale` puts a writer's reasons on the card. A `question`
    with `labels` makes a causal language model a classifier.
    """

    model: ModelLike
    texts: Sequence[TextLike] | Sample | TextSource
    methods: Sequence[MethodLike] | None = None
    checks: Sequence[CheckLike] | None = ()
    aims: Aims = Aims()
    scores: Any = None
    draws: int | None = None
    every_word: bool = False
    rationale: bool = False
    device: str | None = None
    dtype: str | None = None
    question: str | None = None
    labels: Sequence[str] | None = None
