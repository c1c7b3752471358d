"""Where published data lie: at the place that the user names, or below the folder $ASSAY_DATA."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from assay.errors import BadFile, BadInput


def published_place(name: str, given: str, places: Sequence[str], option: str) -> Path:
    """The file or folder of a published set; `option` is the parameter by which a user names another place."""
    if given:
        if not Path(given).exists():
            raise BadFile(f"{given} cannot be read: there is no such file or folder.")
        return Path(given)
    folder = os.environ.get("ASSAY_DATA")
    if not folder:
        raise BadInput(f"say where {name} lies: {option}={name}:FILE, or set ASSAY_DATA to a folder with {places[0]}.")
    found = next((path for path in (Path(folder) / one for one in places) if path.exists()), None)
    if found is None:
        raise BadFile(f"{folder} has none of {', '.join(places)}; say where {name} lies: {option}={name}:FILE.")
    return found
