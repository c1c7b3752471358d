"""Options of commands whose work several workers can share: a run, an index."""

from __future__ import annotations

from typing import Annotated, Any

import typer


def how(*names: str, text: str, metavar: str | None = None, least: float | None = None) -> Any:
    return typer.Option(*names, help=text, metavar=metavar, min=least, rich_help_panel="How it is run")


Executor = Annotated[str, how("--executor", text="inline (one process) or ray.", metavar="NAME")]
Workers = Annotated[int | None, how("--workers", text="Ray workers; by default as many as fit.", metavar="N", least=1)]
Gpus = Annotated[float, how("--gpus-per-worker", text="GPUs of each Ray worker.", metavar="N", least=0)]
Address = Annotated[str | None, how("--address", text="The Ray cluster; by default one on this machine.", metavar="A")]
