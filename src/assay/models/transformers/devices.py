"""Arrays to the device without waiting for it: what a GPU computes meanwhile goes on."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor


def to_device(array: np.ndarray[Any, np.dtype[Any]], device: torch.device) -> Tensor:
    """From pinned memory, so that the copy takes its turn among the work of the GPU and nobody waits for it."""
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor.to(device)
