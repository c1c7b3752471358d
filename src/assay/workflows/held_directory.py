"""A directory that one job works in: its settings in a file, a lock while it lasts, and the same job goes on there.

Another job, or other files, in the same directory are refused with a sentence that says what differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

from assay.errors import BadFile, BadInput
from assay.runs.plan import RunPlan
from assay.storage import lock
from assay.storage.files import read_json, write_text
from assay.storage.lock import Lock
from assay.storage.plain import require_plain


@dataclass(frozen=True)
class HeldDirectory:
    """A directory, new or with a part of the same job in it; `file` holds the settings and the result."""

    path: Path
    lock: Lock

    file: ClassVar[str]
    job: ClassVar[str]  # as a sentence calls it
    names: ClassVar[tuple[str, ...]]  # of all that the job writes

    @classmethod
    @contextmanager
    def held(cls, out: str | Path, settings: Mapping[str, Any]) -> Iterator[Self]:
        """The directory, for this job alone while it lasts."""
        path = Path(out)
        with ExitStack() as stack:
            try:
                path.mkdir(parents=True, exist_ok=True)
                require_plain(path, [cls.file, *cls.names])
                files = cls(path, stack.enter_context(Lock(path)))
                files._require_same(json.loads(json.dumps(settings)))
            except OSError as error:
                why = "it is a file, not a directory" if path.is_file() else error.strerror or error
                raise BadFile(f"{path} cannot be used for {cls.job}: {why}.") from error
            yield files

    def write(self, name: str, content: str) -> None:
        self.lock.require()
        write_text(self.path / name, content)

    def finish(self, settings: Mapping[str, Any], result: Mapping[str, Any]) -> None:
        self.write(self.file, json.dumps({"settings": settings, "result": result}, indent=1, ensure_ascii=False))

    def read(self) -> dict[str, Any] | None:
        """The settings and the result, which is empty until the job is done."""
        found = read_json(self.path / self.file, "use another directory")
        if found is not None and (not isinstance(found, dict) or not isinstance(found.get("settings"), dict)):
            raise BadInput(f"{self.path / self.file} is no file of a {self.job}; use another directory.")
        return found

    def _require_same(self, now: dict[str, Any]) -> None:
        found = self.read()
        others = sorted(p.name for p in self.path.iterdir() if p.name != lock.FILE and not p.name.startswith("."))
        if found is None:
            if others:
                raise BadInput(f"{self.path} holds other files ({others[0]}) and no {self.job}; use another directory.")
            self.finish(now, {})
            return
        if differences := RunPlan(self._before(found, now), {}).differences(RunPlan(now, {})):
            raise BadInput(f"{self.path} holds another {self.job}: {'; '.join(differences)}. Use another directory.")

    def _before(self, found: Mapping[str, Any], now: Mapping[str, Any]) -> dict[str, Any]:
        """The settings that must be the same."""
        return dict(found["settings"])
