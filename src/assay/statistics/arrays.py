"""Arrays by what they hold."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]


Ints: TypeAlias = np.ndarray[Any, np.dtype[np.int64]]
