"""The methods of the study, as the paper calls them.

LIME explains the probability in the released code and the log-odds here, as all methods of the study do. LIME_BERT
fills all holes of a sample at once, which the paper finds to be alike (footnote 3); LIME_BERT_SST2 does so by the
masked language model that was trained further.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from assay_studies.double_trouble.sizes import Sizes

Made = tuple[str, dict[str, Any]]
FURTHER = "mlm_sst2"  # the name of the masked language model that was trained further, see further_trained


def _loo(eraser: str) -> Callable[[Sizes], Made]:
    return lambda sizes: ("leave_one_out", {"eraser": eraser})


METHODS: dict[str, Callable[[Sizes], Made]] = {
    "IM": lambda sizes: ("input_marginalization", {"k": 10}),
    "IM_all": lambda sizes: ("input_marginalization", {"threshold": 1e-5}),
    "IM_SST2": lambda sizes: ("input_marginalization", {"k": 10, "model": FURTHER}),
    "LOO_zero": _loo("pad"),
    "LOO_unk": _loo("unknown"),
    "LOO_empty": _loo("delete"),
    "LIME": lambda sizes: ("lime", {"samples": sizes.lime_samples}),
    "LIME_BERT": lambda sizes: ("lime", {"samples": sizes.lime_bert_samples, "eraser": "resample"}),
    "LIME_BERT_SST2": lambda sizes: ("lime", {"samples": sizes.lime_bert_samples, "eraser": f"resample:{FURTHER}"}),
    "Random": lambda sizes: ("random", {}),
}
COMPARED = ("IM", "LOO_zero", "LOO_unk", "LOO_empty")


def wanted(task: str) -> tuple[str, ...]:
    """The methods whose explanations are compared on a dataset; the paper has LIME on SST alone."""
    return (*COMPARED, "LIME", "LIME_BERT", "Random") if task == "sst2" else (*COMPARED, "Random")
