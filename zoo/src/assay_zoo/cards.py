"""Model cards: what each bundled model is, what it scored, and the sha256 of every file it reads.

A card is written by the recipe that trained the model, never by hand. Reading one imports nothing heavy, so that a
list of models costs nothing.
"""

import difflib
import hashlib
import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay_zoo.errors import REINSTALL, ZooError

WEIGHTS = Path(__file__).parent / "weights"
WRITER = "writer"
ADAPTERS = ("explainer", "editor", "paraphraser")  # of the writer, where they are bundled
NAMES = ("sst2", "snli", "ag_news", "squad", "mlm", "tagger")


@dataclass(frozen=True)
class Card:
    """One bundled model."""

    name: str
    title: str
    task: str
    labels: tuple[str, ...]
    fields: tuple[str, ...]
    files: dict[str, str]
    bytes: int
    metrics: dict[str, Any]
    text: str


def names() -> list[str]:
    """The bundled models."""
    return list(NAMES)


def writers() -> list[str]:
    """The writer, whose base another package carries, and its bundled adapters: `writer:explainer`."""
    named = [f"{WRITER}:{adapter}" for adapter in ADAPTERS]
    return [WRITER, *(name for name in named if (WEIGHTS / f"{file_name(name)}.json").is_file())]


def writer_card(name: str) -> Card:
    """The card of the writer, which has no files here, or of one of its adapters."""
    if name not in (have := writers()):
        raise ZooError(f"no bundled writer is called {name!r}: choose one of {', '.join(have)}")
    if name == WRITER:
        title = "a small language model, SmolLM2-135M-Instruct"
        return Card(name, title, "text-generation", (), ("prompt",), {}, 0, {}, f"# {name}: {title}\n")
    return read(name)


def card(name: str) -> Card:
    """The card of one bundled model."""
    known(name)
    return read(name)


def read(name: str) -> Card:
    """A card from its two files."""
    try:
        facts = json.loads((WEIGHTS / f"{file_name(name)}.json").read_text(encoding="utf-8"))
        text = (WEIGHTS / f"{file_name(name)}.md").read_text(encoding="utf-8")
        return from_facts(facts, text)
    except (OSError, ValueError, KeyError) as why:
        raise ZooError(f"the card of {name!r} is missing or damaged ({why}); run `{REINSTALL}`") from why


def file_name(name: str) -> str:
    """What the files of a model are called: `writer:explainer` is no name of a file everywhere."""
    return name.replace(":", "_")


def known(name: str) -> None:
    """Complain about a name that is not in the zoo."""
    if name not in NAMES:
        near = difflib.get_close_matches(name, NAMES, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise ZooError(f"no bundled model is called {name!r}: choose one of {', '.join(NAMES)}{hint}")


def from_facts(facts: dict[str, Any], text: str) -> Card:
    """A card from the json that the recipe wrote."""
    plain = {key: facts[key] for key in ("name", "title", "task", "files", "bytes", "metrics")}
    return Card(**plain, labels=tuple(facts["labels"]), fields=tuple(facts["fields"]), text=text)


def checked(one: Card) -> dict[str, Path]:
    """The files of a model, by name, after comparing each with its sha256."""
    return {name: intact(WEIGHTS / name, digest) for name, digest in one.files.items()}


def intact(path: Path, digest: str) -> Path:
    """The path, if the file is there and whole."""
    if not path.is_file():
        raise ZooError(f"the zoo's file {path.name} is missing; run `{REINSTALL}`")
    if sha256(path) != digest:
        raise ZooError(f"the zoo's file {path.name} is damaged (its sha256 differs); run `{REINSTALL}`")
    return path


def sha256(path: Path) -> str:
    """The sha256 of a file, in hex."""
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
