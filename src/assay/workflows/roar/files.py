"""The directory of a ROAR run: what it is about, the shortened texts, and one small file for each model's score.

roar.json       what is run; other settings are refused        texts/    shortened texts, some hundred rows a file
scores/         one file per trained model

Every file is there whole or not at all, so a run that is killed loses the model it was training and no more. Without
a directory the same things are kept in memory.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import blake2b
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput
from assay.runs.plan import Plan
from assay.storage.durable import write_whole

_ABOUT = "roar.json"


@dataclass(frozen=True)
class RoarFiles:
    """Finished parts by name."""

    path: Path | None = None
    memory: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def made(cls, out: str | Path | None, settings: Mapping[str, Any]) -> RoarFiles:
        """The directory, new or with a part of the same run in it."""
        if out is None:
            return cls()
        path = Path(out)
        try:
            path.mkdir(parents=True, exist_ok=True)
            _require_same(path, settings)
            for part in ("texts", "scores"):
                (path / part).mkdir(exist_ok=True)
        except OSError as error:
            raise BadFile(f"{path} cannot be used for a run: {error.strerror or error}.") from error
        return cls(path)

    def get(self, name: str) -> Any:
        """A finished part, or None."""
        if self.path is None:
            return self.memory.get(name)
        place = self.path / name
        try:
            return json.loads(place.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            raise BadFile(f"{place} cannot be read; delete it, and it is made again ({error}).") from error

    def put(self, name: str, data: Any) -> None:
        if self.path is None:
            self.memory[name] = data
            return
        try:
            write_whole(self.path / name, json.dumps(data, ensure_ascii=False).encode())
        except OSError as error:
            raise BadFile(f"{self.path / name} cannot be written: {error.strerror or error}.") from error


def file_name(method: str) -> str:
    """A method with its parameters, as the name of a file: readable, and different for different ones."""
    digest = blake2b(method.encode(), digest_size=4).hexdigest()
    return f"{re.sub(r'[^A-Za-z0-9]+', '_', method)[:40].strip('_')}-{digest}"


def _require_same(path: Path, settings: Mapping[str, Any]) -> None:
    about, now = path / _ABOUT, json.loads(json.dumps(settings))
    others = sorted(p.name for p in path.iterdir() if not p.name.startswith("."))
    if not others:
        write_whole(about, json.dumps(now, indent=1).encode())
        return
    try:
        before = dict(json.loads(about.read_text(encoding="utf-8")))
    except FileNotFoundError:
        raise BadInput(f"{path} holds other files ({others[0]}) and no ROAR run; use another directory.") from None
    except ValueError as error:
        raise BadFile(f"{about} cannot be read ({error}); use another directory.") from error
    if differences := Plan(before, {}).differences(Plan(now, {})):
        raise BadInput(f"{path} holds another ROAR run: {'; '.join(differences)}. Use another directory.")
