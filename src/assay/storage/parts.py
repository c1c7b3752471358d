"""Finished parts of a long piece of work, a JSON file each, so that what was killed goes on where it stopped.

with PartsFolder(Path("DIR")).held({"model": "sst2"}) as parts:
    parts.get("biases") or parts.put("biases", data)

The settings are those that all parts belong to: another piece of work is refused, and so is a second process.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput
from assay.storage.durable import abandoned
from assay.storage.files import read_json, write_text
from assay.storage.lock import FILE, Lock
from assay.storage.plain import require_plain

_SETTINGS = "settings.json"
_AGAIN = "delete it, and it is made again"


@dataclass(frozen=True)
class PartsFolder:
    """A directory of parts by name."""

    path: Path

    def get(self, name: str) -> Any:
        """A finished part, or None."""
        require_plain(self.path, [f"{name}.json"])
        return read_json(self.path / f"{name}.json", _AGAIN)

    def put(self, name: str, data: Any) -> None:
        write_text(self.path / f"{name}.json", json.dumps(data, ensure_ascii=False))

    @contextmanager
    def held(self, settings: Mapping[str, Any]) -> Iterator[PartsFolder]:
        """This folder, for one process alone while it lasts; see `require_same`."""
        with ExitStack() as stack:
            try:
                self.path.mkdir(parents=True, exist_ok=True)
                stack.enter_context(Lock(self.path))
            except OSError as error:
                raise BadFile(f"{self.path} cannot be used: {error.strerror or error}.") from error
            yield self.require_same(settings)

    def require_same(self, settings: Mapping[str, Any]) -> PartsFolder:
        """This folder, made where it is missing; an error where it holds parts of other work, or other files."""
        wanted = json.loads(json.dumps(settings))
        try:
            self.path.mkdir(parents=True, exist_ok=True)
            require_plain(self.path, [_SETTINGS])
        except OSError as error:
            raise BadFile(f"{self.path} cannot be used: {error.strerror or error}.") from error
        found = read_json(self.path / _SETTINGS, _AGAIN)
        if found is not None and not isinstance(found, dict):
            raise BadInput(f"{self.path / _SETTINGS} is no file of ours; use another directory.")
        if found is None and any(path.name != FILE and not abandoned(path) for path in self.path.iterdir()):
            raise BadInput(f"{self.path} holds other files; use an empty directory.")
        if found is None:
            write_text(self.path / _SETTINGS, json.dumps(wanted, indent=1, ensure_ascii=False))
        elif other := sorted(name for name in {*found, *wanted} if found.get(name) != wanted.get(name)):
            named = ", ".join(other)
            raise BadInput(f"{self.path} holds parts of other work (it differs in {named}); use another directory.")
        return self

    def remove(self, names: Iterable[str]) -> None:
        """The parts of these names go, and the folder with them, unless somebody has put other files there."""
        with suppress(OSError):
            for name in (*names, Path(_SETTINGS).stem):
                (self.path / f"{name}.json").unlink(missing_ok=True)
            for path in filter(abandoned, self.path.iterdir()):
                path.unlink()
            self.path.rmdir()
