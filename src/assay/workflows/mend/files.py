"""The directory of a mending: a model like any other, what was done to get it, and the parts of an unfinished run.

    mend.json       the settings, and when it is done the result       report.html, report.md      for people
    parts/          what is finished of a run that is not; gone when the model is there
    lock            who is at work; a second mending is kept out

A run that is killed goes on from its parts. Where the mended model is refused, its parts stay and no model lies in the
directory: the same call with a wider margin then takes it from there.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import BadFile
from assay.storage.parts import PartsFolder
from assay.workflows.held_directory import HeldDirectory

FILE = "mend.json"
_CONFIG = "config.json"


@dataclass(frozen=True)
class MendFiles(HeldDirectory):
    """A directory, new or with a part of the same run in it."""

    file = FILE
    job = "mending"
    names = ("parts", "report.html", "report.md")

    @property
    def parts(self) -> Path:
        return self.path / "parts"

    def accepted(self, model: str) -> dict[str, Any] | None:
        """The result of the run that left its model here; where it was killed on the last step, this is done now."""
        found = self.read()
        if not found or not found["result"].get("accepted"):
            return None
        if not (self.path / _CONFIG).exists():
            self.take_model(model)
        return dict(found["result"])

    def get(self, name: str) -> Any:
        """A finished part, or None."""
        return PartsFolder(self.parts).get(name)

    def put(self, name: str, data: Any) -> None:
        self.write(f"{self.parts.name}/{name}.json", json.dumps(data, ensure_ascii=False))

    def drop(self, model: str) -> None:
        shutil.rmtree(self.parts / model, ignore_errors=True)

    def take_model(self, name: str) -> None:
        """The trained model from its part to its place; what makes the directory a model comes last."""
        self.lock.require()
        try:
            made = sorted((self.parts / name).iterdir(), key=lambda path: path.name == _CONFIG)
            for path in made:
                path.replace(self.path / path.name)
            shutil.rmtree(self.parts, ignore_errors=True)
        except OSError as error:
            raise BadFile(f"the model cannot be saved in {self.path}: {error.strerror or error}.") from error

    def _before(self, found: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
        """While no model was taken, the margin may change."""
        before = dict(found["settings"])
        return before if found["result"].get("accepted") else before | {"margin": now["margin"]}
