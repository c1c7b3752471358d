"""The command `check` for checks that read a whole labelled sample: from its options to their verdicts."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from assay.cli.requests import request_of
from assay.cli.sources import sample_of
from assay.errors import BadInput
from assay.registry.finding import resolve_method
from assay.request import TextSource
from assay.text.sample import Sample
from assay.verdicts.judge import Checked
from assay.verdicts.sample_checks import SampleRequest, sample_checks


def checked_sample(context: typer.Context, given: Mapping[str, Any]) -> Checked | None:
    """The verdicts, where the command's checks read a sample; None where they read single texts.

    Unless the user names a model, the checks train the one that is explained.
    """
    request = request_of(given)
    checks = sample_checks(request.checks or ())
    if not checks:
        return None
    assert isinstance(request.texts, TextSource)
    _require_labels(checks[0][0].name, request.texts)
    asked = SampleRequest(
        sample=sample_of(request.texts),
        dev=_read(given["dev"], request.texts),
        test=_read(given["test"], request.texts),
        model=request.model if _was_given(context, "model") else None,
        methods=[resolve_method(one) for one in request.methods or ()],
        seed=request.aims.seed,
        out=given["out"],
        progress=False if given["quiet"] else None,
    )
    return Checked((), *asked.verdicts(checks))


def _was_given(context: typer.Context, option: str) -> bool:
    """Whether the user gave an option; else it has its default."""
    source = context.get_parameter_source(option)
    return source is not None and source.name != "DEFAULT"  # by name: typer has an enumeration of its own


def _require_labels(check: str, source: TextSource) -> None:
    if not source.file or not source.label_column:
        raise BadInput(f"{check} trains models on labelled texts: give --file, and the labels by --label-column.")


def _read(file: Path | None, like: TextSource) -> Sample | None:
    """Another file with the same columns."""
    if file is None:
        return None
    return Sample.of(file, text=like.column, pair=like.pair_column, label=like.label_column)
