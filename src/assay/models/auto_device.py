"""The device for somebody who says `auto`."""

from __future__ import annotations

import sys


def best_device() -> str:
    """A GPU where torch sees one, else the CPU. A model that needs torch has imported it; others run where they run.

    Apple's GPUs are not taken by themselves: they lack the double precision that is used here.
    """
    torch = sys.modules.get("torch")
    return "cuda" if torch is not None and torch.cuda.is_available() else "cpu"
