"""How an explanation was made: the method, its parameters, the model, the seed and the versions."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from assay.explanations.about import About, Cost, changed
from assay.explanations.text_explanation import TextExplanation
from assay.registry.cards import MethodCard
from assay.registry.parameters import parameters
from assay.registry.protocols import Method


class NamedModel(Protocol):
    """What an explanation says of its model."""

    name: str
    labels: tuple[str, ...]


def provenance(card: MethodCard, method: Method, model: NamedModel, seed: int) -> About:
    """What all explanations of a method have in common: how they were made."""
    return About(
        method=card.name,
        title=card.title,
        parameters=parameters(method),
        model=model.name,
        labels=model.labels,
        versions=versions(),
        seed=seed,
    )


def with_provenance(e: TextExplanation, about: About, cost: Cost) -> TextExplanation:
    """The explanation with how it was made; its labels have the names that they have for this text."""
    return e.told(about=changed(about, cost=cost, labels=tuple(e.prediction)))


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
