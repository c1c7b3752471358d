"""What a study has finished, stored in its directory: a part is taken from there when its settings agree.

    DIR/parts/NAME.json     {"settings": ..., "part": ..., "made": ...}
    DIR/maps/NAME.jsonl.gz  the settings, then one explanation a line
    DIR/PLACE/NAME.json.gz  {"settings": ..., "data": ..., "made": ...}, any other result
    DIR/job_seconds.json    {"JOB": 12.3}, how long each job took that processes shared

`made` says where and with what (see `origin`); it is no setting: what another machine made is taken all the same.
Files are there whole or not at all; one that cannot be read counts as not there and is written again. A directory in
which such names are a user's own is refused, and a link is neither followed nor replaced.
"""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from assay.errors import BadFile, BadInput
from assay.explanations.token_scores import TokenScores
from assay.storage.durable import write_whole
from assay.storage.plain import require_plain
from assay_studies.findings import Part
from assay_studies.origin import origin

Settings: TypeAlias = Mapping[str, Any]
_MADE = "made"
_WHOLE = {"explanations": "whole"}  # before there were verdicts, facts and warnings were left out
_FOLDERS = ("parts", "maps", "tables", "figures")
_SECONDS = "job_seconds.json"
_OURS = (*_FOLDERS, "report.md", "report.html")
_UNREADABLE = (OSError, EOFError, ValueError, KeyError, TypeError, BadInput)


@dataclass(frozen=True)
class Store:
    """The directory of a study; `device` is where results are made that are kept now."""

    out: Path
    device: str | None = None

    def require_ours(self) -> None:
        """Refuse a directory with files under our names that are not a study's: that is known by its parts and maps."""
        there = [name for name in _OURS if os.path.lexists(self.out / name)]
        require_plain(self.out, there)
        for folder in _FOLDERS:
            require_plain(self.out / folder, (path.name for path in (self.out / folder).glob("*")))
        if there and not self._known():
            raise BadInput(f"{self.out} holds other files ({there[0]}) and no study; use another --out.")

    def _known(self) -> bool:
        """A study that was stopped may have left maps and no part yet."""
        parts, maps = (self.out / "parts").glob("*.json"), (self.out / "maps").glob("*.jsonl.gz")
        return any(map(_is_part, parts)) or any(map(_are_maps, maps))

    def part(self, name: str, settings: Settings) -> Part | None:
        try:
            data = json.loads(self._part(name).read_text(encoding="utf-8"))
            return Part.from_dict(data["part"]) if data["settings"] == _plain(settings) else None
        except _UNREADABLE:
            return None

    def keep_part(self, part: Part, settings: Settings) -> None:
        data = {"settings": settings, "part": part.to_dict(), _MADE: origin(self.device)}
        self.write(self._part(part.name), json.dumps(data, ensure_ascii=False).encode())

    def maps(self, name: str, settings: Settings) -> list[TokenScores] | None:
        try:
            lines = gzip.decompress(self._maps(name).read_bytes()).decode().split("\n")
            own = json.loads(lines[0])
            own.pop(_MADE, None)
            same = own == _plain({**settings, **_WHOLE})
            return [TokenScores.from_json(line) for line in lines[1:]] if same else None
        except (*_UNREADABLE, IndexError):
            return None

    def keep_maps(self, name: str, settings: Settings, maps: Sequence[TokenScores]) -> None:
        """Whole explanations: a verdict counts their warnings, and random maps are drawn as their facts say."""
        lines = [json.dumps({**settings, **_WHOLE, _MADE: origin(self.device)}), *(e.to_json() for e in maps)]
        self.write(self._maps(name), gzip.compress("\n".join(lines).encode(), 1))

    def data(self, place: str, name: str, settings: Settings) -> Any | None:
        """What was stored there under these settings, as plain data."""
        try:
            stored = json.loads(gzip.decompress(self._data(place, name).read_bytes()))
            return stored["data"] if stored["settings"] == _plain(settings) else None
        except _UNREADABLE:
            return None

    def keep_data(self, place: str, name: str, settings: Settings, data: Any) -> None:
        whole = json.dumps({"settings": settings, "data": data, _MADE: origin(self.device)}, ensure_ascii=False)
        self.write(self._data(place, name), gzip.compress(whole.encode(), 1))

    def once(self, place: str, name: str, settings: Settings, make: Callable[[], Any]) -> Any:
        """What was stored there under these settings; or made now, stored, and returned as JSON gives it back."""
        if (data := self.data(place, name, settings)) is None:
            data = _plain(make())
            self.keep_data(place, name, settings, data)
        return data

    @property
    def seconds(self) -> dict[str, float]:
        """How long jobs took, by their names."""
        try:
            known = json.loads((self.out / _SECONDS).read_text(encoding="utf-8"))
            return {str(name): float(seconds) for name, seconds in known.items()}
        except (*_UNREADABLE, AttributeError):
            return {}

    def keep_seconds(self, job: str, seconds: float) -> None:
        """A job that was finished before ends at once, and its time stays."""
        known = self.seconds
        known[job] = max(round(seconds, 1), known.get(job, 0.0))
        self.write(self.out / _SECONDS, json.dumps(known, ensure_ascii=False, indent=1).encode())

    def write(self, path: Path, data: bytes) -> None:
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            require_plain(path.parent, [path.name])
            write_whole(path, data)
        except OSError as error:
            raise BadFile(f"{path} cannot be written: {error.strerror or error}.") from error

    def _part(self, name: str) -> Path:
        return self.out / "parts" / f"{name}.json"

    def _data(self, place: str, name: str) -> Path:
        return self.out / place / f"{name}.json.gz"

    def _maps(self, name: str) -> Path:
        return self.out / "maps" / f"{name}.jsonl.gz"


def _is_part(path: Path) -> bool:
    try:
        return set(json.loads(path.read_text(encoding="utf-8"))) - {_MADE} == {"settings", "part"}
    except (*_UNREADABLE, AttributeError):
        return False


def _are_maps(path: Path) -> bool:
    try:
        with gzip.open(path, "rt", encoding="utf-8") as file:
            return bool(_WHOLE.items() <= json.loads(file.readline()).items())
    except (*_UNREADABLE, AttributeError):
        return False


def _plain(settings: Any) -> Any:
    """As JSON gives it back."""
    return json.loads(json.dumps(settings))
