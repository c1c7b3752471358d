"""How the same method with several settings is named apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from assay.registry.finding import methods
from assay.statistics.verdict import Verdict


def apart(settings: Mapping[str, Any], namesakes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The settings by which a method differs from others of its name."""
    others = list(namesakes)
    return {name: v for name, v in settings.items() if any(other.get(name) != v for other in others)}


def with_settings(title: str, settings: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in settings.items())
    return f"{title} ({shown})" if shown else title


def method_name(name: str) -> str:
    card = methods().get(name)
    return card.title if card else name


def method_titles(verdicts: Sequence[Verdict]) -> list[str]:
    """The name of the method of each verdict; one method with two settings has two names, which say how they differ."""
    used: dict[str, list[Mapping[str, Any]]] = {}
    for v in verdicts:
        used.setdefault(v.method, []).append(v.method_parameters or {})
    differing = (apart(v.method_parameters or {}, used[v.method]) for v in verdicts)
    return [with_settings(method_name(v.method), own) for v, own in zip(verdicts, differing, strict=True)]
