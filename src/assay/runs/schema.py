"""What a shard holds: one row per text and method, in the order of texts, then of methods.

row, id, label          which row of the input, by number and by id, and its label if the input has one
method, kind, status    the method, its kind of explanation; status is ok, unreadable (the row) or failed (the method)
error, message          the name of the error and its sentence, where status is not ok
text, pair              the strings as they were given
target, predicted, probability, prediction      the explained label, the likeliest one, and all with probabilities
words, starts, ends, scores                     each unit, its place in its string, its score if it has one
checks                  per check: its name, the score, those of random explanations, more facts, warnings; or its
                        error, or why the check left the text out
sequences, forwards, backwards, tokens, hits    what it asked for and what had to be computed
generated, trainings    tokens that a model wrote for it, and models that were trained for it
seed, about, more       for making it again, and for reading the explanation back: JSON
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import pyarrow as pa

from assay.explanations.about import About, Cost
from assay.explanations.base import Explanation
from assay.explanations.text_explanation import TextExplanation
from assay.explanations.token_matrix import TokenMatrix
from assay.explanations.token_scores import TokenScores
from assay.registry.measured import Measured
from assay.text.example import Example
from assay.verdicts.measuring import TextResult

_NUMBERS = pa.list_(pa.float64())
_CHECK = pa.struct(
    [
        ("check_name", pa.string()),
        ("score", pa.float64()),
        ("random", _NUMBERS),
        ("facts", pa.list_(pa.struct([("name", pa.string()), ("value", pa.float64())]))),
        ("warnings", pa.list_(pa.string())),
        ("left_out", pa.string()),
        ("error", pa.string()),
        ("message", pa.string()),
    ]
)
SCHEMA = pa.schema(
    [
        ("row", pa.int64()),
        ("id", pa.string()),
        ("label", pa.string()),
        ("method", pa.string()),
        ("kind", pa.string()),
        ("status", pa.string()),
        ("error", pa.string()),
        ("message", pa.string()),
        ("text", pa.string()),
        ("pair", pa.string()),
        ("target", pa.string()),
        ("predicted", pa.string()),
        ("probability", pa.float64()),
        ("prediction", pa.list_(pa.struct([("label", pa.string()), ("probability", pa.float64())]))),
        ("words", pa.list_(pa.string())),
        ("starts", pa.list_(pa.int32())),
        ("ends", pa.list_(pa.int32())),
        ("scores", _NUMBERS),
        ("checks", pa.list_(_CHECK)),
        *((name, pa.int64()) for name in asdict(Cost())),
        ("seed", pa.int64()),
        ("about", pa.string()),
        ("more", pa.string()),
    ]
)
_NOBODY = About(method="")
# What has a column of its own and need not stand in `more`.
_OWN = ("kind", "words", "spans", "scores", "prediction", "about", "text", "target")
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


@dataclass
class Entry:
    """One text under one method, until it is written: an explanation or an error, and what the checks say."""

    row: Example
    method: str
    seed: int
    explanation: TextExplanation | None = None
    error: Exception | None = None
    cost: Cost = field(default_factory=Cost)
    about: str = ""
    checks: list[dict[str, Any]] = field(default_factory=list)

    def record(self) -> dict[str, Any]:
        given = self.row.strings
        common = {
            "row": self.row.position,
            "id": clean(self.row.id),
            "label": clean(self.row.label),
            "method": self.method,
            "text": clean(given[0]) if given else None,
            "pair": clean(given[1]) if len(given) > 1 else None,
            "checks": self.checks,
            "seed": self.seed,
            **vars(self.cost),
        }
        made = self.explanation
        if made is None:
            return common | _failed(self.row, self.error)
        return common | _explained(made, self.about or about_json(made.about))


def table_of(entries: Sequence[Entry]) -> pa.Table:
    return pa.Table.from_pylist([entry.record() for entry in entries], schema=SCHEMA)


def check_record(name: str, result: TextResult) -> dict[str, Any]:
    """What a check found for one text."""
    own = result.measured
    return {
        "check_name": name,
        "score": None if own is None else float(own.score),
        "random": None if own is None else list(result.random),
        "facts": [{"name": key, "value": float(value)} for key, value in own.facts.items()] if own else [],
        "warnings": list(own.warnings) if own else [],
        "left_out": result.left_out,
        **named(result.error),
    }


def check_result(record: Mapping[str, Any]) -> TextResult:
    """What `check_record` wrote; an error comes back as the reason why the text is left out."""
    if record["score"] is None:
        return TextResult(left_out=record["left_out"] or f"the check failed with {record['error']}")
    facts = {fact["name"]: fact["value"] for fact in record["facts"]}
    return TextResult(Measured(record["score"], facts, tuple(record["warnings"])), tuple(record["random"]))


def named(error: Exception | None) -> dict[str, str | None]:
    """The name and the sentence of an error, the same on every machine."""
    if error is None:
        return {"error": None, "message": None}
    return {"error": type(error).__name__, "message": clean(_ADDRESS.sub("0x...", str(error)))}


def clean(string: str | None) -> str | None:
    """The string with a replacement for what UTF-8 cannot hold."""
    return None if string is None else string.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _failed(row: Example, error: Exception | None) -> dict[str, Any]:
    return {"status": "failed" if row.error is None else "unreadable", **named(error)}


def _explained(e: TextExplanation, about: str) -> dict[str, Any]:
    data = e.told(about=_NOBODY).to_dict()  # what is the same for all rows is not taken apart for each
    predicted = max(e.prediction, key=lambda label: e.prediction[label]) if e.prediction else None
    return {
        "status": "ok",
        "kind": e.kind,
        "target": e.label,
        "predicted": predicted,
        "probability": e.prediction[predicted] if predicted is not None else None,
        "prediction": [{"label": label, "probability": chance} for label, chance in e.prediction.items()],
        "words": data["words"],
        "starts": [start for start, _ in e.spans],
        "ends": [end for _, end in e.spans],
        "scores": data["scores"] if isinstance(e, TokenScores) else None,
        "about": about,
        "more": _json(_rest(data) | ({"scores": data["scores"]} if isinstance(e, TokenMatrix) else {})),
    }


def about_json(about: About) -> str:
    """What all explanations of a method say of themselves; cost and seed have columns of their own."""
    data = asdict(about) | {"labels": list(about.labels)}
    return _json({name: value for name, value in data.items() if name not in ("cost", "seed")})


def _rest(data: Mapping[str, Any]) -> dict[str, Any]:
    """What no column holds; of a text in several fields also the strings under their names."""
    rest = {name: value for name, value in data.items() if name not in _OWN}
    if not isinstance(data["text"], str):
        return {**rest, "text": data["text"]}
    if rest["seen"] == [data["text"]]:
        del rest["seen"]
    return rest


def explanation_of(record: Mapping[str, Any]) -> TextExplanation:
    """The explanation that a row with status ok was made of."""
    more = json.loads(record["more"])
    cost = {name: record[name] for name in asdict(Cost())}
    data = {
        "text": record["text"],
        "seen": [record["text"]],
        "spans": list(zip(record["starts"], record["ends"], strict=True)),
        "prediction": {one["label"]: one["probability"] for one in record["prediction"]},
        "words": record["words"],
        "target": record["target"],
        "kind": record["kind"],
        "scores": record["scores"],
        **more,
        "about": {**json.loads(record["about"]), "cost": cost, "seed": record["seed"]},
    }
    explanation = Explanation.from_dict(data)
    assert isinstance(explanation, TextExplanation), "a run keeps explanations of texts"
    return explanation


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)  # of a training set its size and digest
