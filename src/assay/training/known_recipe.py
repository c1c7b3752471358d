"""The recipe that a directory of a trained model was made by, as its training.json tells it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from assay.errors import AssayError
from assay.training.digests import as_json
from assay.training.fit import Plan
from assay.training.place import TRAINING
from assay.training.recipes import Recipe


def recipe_of(directory: str | Path) -> Recipe | None:
    """None where the directory tells of no training, or of one that cannot be repeated from what it tells."""
    try:
        saved = dict(json.loads((Path(directory) / TRAINING).read_text(encoding="utf-8")))
    except (OSError, ValueError):
        return None
    kind = _kinds().get(saved.get("trainer", ""))
    if kind is None:
        return None
    try:
        made: Recipe = kind(**_given(kind, saved))
        same = as_json(made.settings)
    except (AssayError, TypeError, ValueError):
        return None
    # The seed is no part of a recipe; anything else that differs (the bytes of a start that changed) makes it another.
    return made if all(saved.get(name) == value for name, value in same.items() if name != "seed") else None


def _kinds() -> Mapping[str, Any]:
    from assay.training.attentive import Attend
    from assay.training.bag import Bag
    from assay.training.finetune import FineTune

    return {"bag": Bag, "attentive": Attend, "finetune": FineTune}


def _given(kind: Any, saved: Mapping[str, Any]) -> dict[str, Any]:
    own = {one.name: saved[one.name] for one in fields(kind) if one.name in saved}
    if not any(one.name == "plan" for one in fields(kind)):
        return own
    plan = {one.name: saved[one.name] for one in fields(Plan) if one.name in saved}
    return {**own, "plan": Plan(**{**plan, "undecayed": tuple(plan.get("undecayed", ())), "seed": 0})}
