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
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput
from assay.runs.plan import RunPlan
from assay.storage import lock
from assay.storage.files import read_json, write_text
from assay.storage.lock import Lock
from assay.storage.plain import require_plain

FILE = "mend.json"
_CONFIG = "config.json"
_REPORTS = ("report.html", "report.md")


@dataclass(frozen=True)
class MendFiles:
    """A directory, new or with a part of the same run in it."""

    path: Path
    lock: Lock

    @classmethod
    @contextmanager
    def held(cls, out: str | Path, settings: Mapping[str, Any]) -> Iterator[MendFiles]:
        """The directory, for this mending alone while it lasts."""
        path = Path(out)
        with ExitStack() as stack:
            try:
                path.mkdir(parents=True, exist_ok=True)
                require_plain(path, [FILE, "parts", *_REPORTS])
                files = cls(path, stack.enter_context(Lock(path)))
                files._require_same(json.loads(json.dumps(settings)))
            except OSError as error:
                raise BadFile(f"{path} cannot be used for mending: {error.strerror or error}.") from error
            yield files

    @property
    def parts(self) -> Path:
        return self.path / "parts"

    def accepted(self, model: str) -> dict[str, Any] | None:
        """The result of the run that left its model here; where it was killed on the last step, this is done now."""
        found = self._read()
        if not found or not found["result"].get("accepted"):
            return None
        if not (self.path / _CONFIG).exists():
            self.take_model(model)
        return dict(found["result"])

    def get(self, name: str) -> Any:
        """A finished part, or None."""
        return read_json(self.parts / f"{name}.json", "delete it, and it is made again")

    def put(self, name: str, data: Any) -> None:
        self.write(f"{self.parts.name}/{name}.json", json.dumps(data, ensure_ascii=False))

    def write(self, name: str, content: str) -> None:
        self.lock.require()
        write_text(self.path / name, content)

    def finish(self, settings: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        self.write(FILE, json.dumps({"settings": settings, "result": result}, indent=1, ensure_ascii=False))

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

    def _read(self) -> dict[str, Any] | None:
        found = read_json(self.path / FILE, "use another directory")
        return None if found is None else dict(found)

    def _require_same(self, now: dict[str, Any]) -> None:
        found = self._read()
        others = sorted(p.name for p in self.path.iterdir() if p.name != lock.FILE and not p.name.startswith("."))
        if found is None:
            if others:
                raise BadInput(f"{self.path} holds other files ({others[0]}) and no mending; use another directory.")
            self.finish(now, {})
            return
        before = dict(found["settings"])
        if not found["result"].get("accepted"):  # no model was taken yet, so the margin may change
            before["margin"] = now["margin"]
        if differences := RunPlan(before, {}).differences(RunPlan(now, {})):
            raise BadInput(f"{self.path} holds another mending: {'; '.join(differences)}. Use another directory.")
