"""What a study is asked to do: where its data lies, where its results go, how large it is, on which models."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput
from assay.models import TextModel, load

_VARIABLE = "ASSAY_DATA"


def _silent(line: str) -> None:
    """Progress that nobody wants to see."""


@dataclass(frozen=True)
class Request:
    """One run of a study.

    `models` puts other models in the place of the bundled ones, by the name under which the study asks for them;
    `sizes` overrides numbers of texts, samples and seeds; `say` hears how far the study is; `workers` are the processes
    that share the work.
    """

    data: Path | None = None
    out: Path = Path("study")
    quick: bool = False
    device: str | None = None
    models: Mapping[str, Any] = field(default_factory=dict)
    sizes: Mapping[str, int] = field(default_factory=dict)
    say: Callable[[str], None] = _silent
    progress: bool | None = False
    command: str = ""
    workers: int = 1

    def __post_init__(self) -> None:
        if self.workers < 1:
            raise BadInput(f"workers are 1 or more, not {self.workers}.")

    @property
    def silent(self) -> Request:
        """The same one, for another process."""
        return replace(self, say=_silent, progress=False, workers=1)

    def require_one_worker(self, name: str, *, shared: bool = False) -> None:
        """Of a study whose work cannot be shared."""
        if self.workers > 1 and not shared:
            raise BadInput(f"{name} runs in one process: leave out --workers.")

    def open(self, name: str) -> TextModel:
        """The model that the study calls so."""
        return load(self.models.get(name, name), device=self.device)

    def directory(self, layout: str) -> Path:
        """The data directory; `layout` tells what it must hold."""
        place = self.data or (Path(os.environ[_VARIABLE]) if os.environ.get(_VARIABLE) else None)
        if place is None:
            raise BadFile(f"say where the data is, by --data DIR or ${_VARIABLE}: a directory that holds {layout}.")
        return place

    def file(self, name: str, layout: str) -> Path:
        """A file of the data directory."""
        place = self.directory(layout)
        if not (place / name).is_file():
            raise BadFile(f"there is no {name} in {place}; the data directory must hold {layout}.")
        return place / name
