"""captum around the bare model, one text at a time, as its tutorials do it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from captum.attr import FeatureAblation, KernelShap, LayerGradientXActivation, LayerIntegratedGradients, Lime

import assay


@dataclass
class Captum:
    model: Any
    tokenizer: Any

    def ids(self, text: str) -> torch.Tensor:
        return self.tokenizer(text, return_tensors="pt")["input_ids"]

    def logit(self, ids: torch.Tensor, target: int) -> torch.Tensor:
        return self.model(input_ids=ids, attention_mask=torch.ones_like(ids)).logits[:, target]

    def target(self, ids: torch.Tensor) -> int:
        with torch.no_grad():
            return int(self.model(input_ids=ids).logits.argmax())

    def baseline(self, ids: torch.Tensor) -> torch.Tensor:
        base = torch.full_like(ids, self.tokenizer.pad_token_id)
        base[0, 0], base[0, -1] = ids[0, 0], ids[0, -1]
        return base

    def input_x_gradient(self, text: str) -> None:
        ids = self.ids(text)
        captum = LayerGradientXActivation(self.logit, self.model.get_input_embeddings())
        captum.attribute(ids, additional_forward_args=(self.target(ids),))

    def integrated_gradients(self, text: str) -> float:
        ids = self.ids(text)
        captum = LayerIntegratedGradients(self.logit, self.model.get_input_embeddings())
        _, miss = captum.attribute(
            ids, self.baseline(ids), additional_forward_args=(self.target(ids),), return_convergence_delta=True
        )
        with torch.no_grad():
            change = self.logit(ids, self.target(ids)) - self.logit(self.baseline(ids), self.target(ids))
        return abs(float(miss) / float(change))

    def feature_ablation(self, text: str, per_eval: int) -> None:
        self._masked(FeatureAblation, text, perturbations_per_eval=per_eval)

    def kernel_shap(self, text: str, samples: int, per_eval: int) -> None:
        self._masked(KernelShap, text, n_samples=samples, perturbations_per_eval=per_eval)

    def lime(self, text: str, samples: int, per_eval: int) -> None:
        self._masked(Lime, text, n_samples=samples, perturbations_per_eval=per_eval)

    def _masked(self, kind: Any, text: str, **settings: int) -> None:
        """A method that puts the mask token in the place of whole words; special tokens are a feature of their own."""
        ids = self.ids(text)
        target = self.target(ids)
        base = torch.full_like(ids, self.tokenizer.mask_token_id)
        method = kind(lambda rows: self.logit(rows, target))
        with torch.no_grad():
            method.attribute(ids, base, feature_mask=self._words(text), **settings)

    def _words(self, text: str) -> torch.Tensor:
        spans = assay.Text.of(text).spans
        offsets = self.tokenizer(text, return_offsets_mapping=True)["offset_mapping"]
        return torch.tensor(
            [[next((w for w, (a, b) in enumerate(spans) if s < b and a < e), len(spans)) for s, e in offsets]]
        )
