"""How the same method with several settings is named apart."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any


def apart(settings: Mapping[str, Any], namesakes: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """The settings by which a method differs from others of its name."""
    others = list(namesakes)
    return {name: v for name, v in settings.items() if any(other.get(name) != v for other in others)}


def with_settings(title: str, settings: Mapping[str, Any]) -> str:
    shown = ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in settings.items())
    return f"{title} ({shown})" if shown else title
