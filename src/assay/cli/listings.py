"""What `--json` says of methods, checks and models."""

from __future__ import annotations

from typing import Any

from assay.models import TextModel
from assay.registry.cards import CheckCard, MethodCard
from assay.registry.finding import methods, planned

_MODEL = ("name", "title", "task", "labels", "fields", "bytes", "metrics")


def method_list() -> list[dict[str, Any]]:
    """Every method, and the cells of the survey's table that are not built yet."""
    return [*map(_method, methods().values()), *_planned()]


def check_entry(card: CheckCard) -> dict[str, Any]:
    more = {"reads": card.reads.kind, "better": card.better, "sensitive_to": card.sensitive_to}
    return {**_common(card), **more}


def model_entry(name: str, card: Any) -> dict[str, Any]:
    return {"name": name, **{key: getattr(card, key) for key in _MODEL if hasattr(card, key)}}


def found_entry(model: TextModel) -> dict[str, Any]:
    """What was found out about a model, and which methods ask it only what it can answer."""
    works = [name for name, card in methods().items() if set(card.needs) <= set(model.answers)]
    return {
        "name": model.name,
        "labels": list(model.labels),
        "facts": list(model.facts),
        "methods": works,
        "not": [name for name in methods() if name not in works],
    }


def _method(card: MethodCard) -> dict[str, Any]:
    place = {"row": card.row.value, "uses": card.uses.value, "section": card.section, "marks": list(card.marks)}
    read = {"reads": card.reads.__name__, "alone": card.alone, "returns": card.returns.kind}
    return {**_common(card), **place, **read, "installed": True}


def _planned() -> list[dict[str, Any]]:
    return [
        {"name": c.name, "title": c.title, "row": c.row.value, "uses": c.uses.value, "section": c.section}
        | {"marks": list(c.marks), "installed": False}
        for c in planned()
    ]


def _common(card: MethodCard | CheckCard) -> dict[str, Any]:
    words = {"name": card.name, "title": card.title, "summary": card.summary, "paper": card.paper}
    return {**words, "needs": [question.__name__ for question in card.needs], "parameters": card.defaults()}
