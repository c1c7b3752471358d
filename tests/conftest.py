"""What all tests share: no network, one thread, and hypothesis without deadlines on a busy machine."""

from __future__ import annotations

import os

# They are read when the libraries are imported, so they are set before anything else.
os.environ["HF_HUB_OFFLINE"] = "1"
os.environ["TOKENIZERS_PARALLELISM"] = "false"
# Processes that tests start find the library compiled: otherwise each of some hundred compiles all that it imports.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
os.environ["NUMBA_DISABLE_JIT"] = "1"  # shap would compile for seconds what takes it milliseconds on our short texts

import torch
import transformers
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)
transformers.logging.set_verbosity_error()
transformers.logging.disable_progress_bar()
settings.register_profile("assay", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("assay")
