"""Names of models on the hub: `owner/name`, or `owner/name@REVISION` for the files of one commit, tag or branch."""

from __future__ import annotations

import re

from assay.errors import ModelNotLoaded


def pinned(name: str) -> tuple[str, str | None]:
    """The name as the hub knows it, and the revision after its @."""
    source, at, revision = name.partition("@")
    if at and not (source and re.fullmatch(r"[\w.][\w./-]*", revision)):
        raise ModelNotLoaded(f"{name!r} names no revision; write owner/name@REVISION with a commit, a tag or a branch.")
    return source, revision or None
