"""lime, shap, interpreto and anchor-exp around the bare model, each the way its own documentation calls it."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch


@dataclass
class Function:
    """Texts to probabilities as people write it: tokenised and padded 64 at a time, in the order they come."""

    model: Any
    tokenizer: Any
    size: int = 64
    rows: int = 0

    def __call__(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        texts = list(map(str, texts))
        self.rows += len(texts)
        parts = [self._batch(texts[i : i + self.size]) for i in range(0, len(texts), self.size)]
        return np.concatenate(parts)

    def labels(self, texts: Sequence[str]) -> np.ndarray[Any, Any]:
        return self(texts).argmax(1)

    def _batch(self, texts: list[str]) -> np.ndarray[Any, Any]:
        coded = self.tokenizer(texts, padding=True, truncation=True, return_tensors="pt")
        with torch.no_grad():
            return self.model(**coded).logits.softmax(-1).double().numpy()


def lime(function: Function, samples: int) -> Callable[[str], object]:
    from lime.lime_text import LimeTextExplainer

    explainer = LimeTextExplainer(class_names=["0", "1"], random_state=0)
    return lambda text: explainer.explain_instance(text, function, num_features=100, num_samples=samples)


def shap_pipeline(model: Any, tokenizer: Any, evals: int) -> Callable[[str], object]:
    """The way of shap's own text examples: a transformers pipeline goes in."""
    import shap
    import transformers

    pipeline = transformers.pipeline("text-classification", model=model, tokenizer=tokenizer, top_k=None, device="cpu")
    explainer = shap.Explainer(pipeline)
    return lambda text: explainer([text], max_evals=evals, silent=True)


def shap_function(function: Function, evals: int) -> Callable[[str], object]:
    import shap

    explainer = shap.Explainer(function, shap.maskers.Text(function.tokenizer), output_names=["0", "1"])
    return lambda text: explainer([text], max_evals=evals, batch_size=64, silent=True)


def shap_kernel(function: Function, samples: int) -> Callable[[str], object]:
    """KernelExplainer over the presence of words, the words of a row joined by blanks."""
    import shap

    def one(text: str) -> object:
        words = np.array(text.split())
        told = shap.KernelExplainer(
            lambda rows: function([" ".join(words[row > 0]) for row in rows]), np.zeros((1, len(words)))
        )
        return told.shap_values(np.ones((1, len(words))), nsamples=samples, l1_reg=False, silent=True)

    return one


def interpreto(kind: str, model: Any, tokenizer: Any, samples: int) -> Callable[[list[str]], object] | None:
    """None where it is not installed."""
    if find_spec("interpreto") is None:
        return None
    import interpreto as peer

    granularity = peer.Granularity.WORD
    made = getattr(peer, kind)(model, tokenizer, batch_size=64, granularity=granularity, n_perturbations=samples)
    return lambda texts: made(texts)


def anchor(function: Function, unknown: str) -> Callable[[str], object] | None:
    """None where it is not installed; words by a plain rule in the place of spaCy's, which changes nothing here."""
    if find_spec("anchor") is None:
        return None
    from anchor.anchor_text import AnchorText

    def words(text: str) -> list[Any]:
        return [SimpleNamespace(text=m.group(), idx=m.start()) for m in re.finditer(r"\S+", text)]

    explainer = AnchorText(words, ["0", "1"], use_unk_distribution=True, mask_string=unknown)
    return lambda text: explainer.explain_instance(text, function.labels, threshold=0.95)
