"""What the tests of all tasks share: every method runs, company does not matter, gradients are slopes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from typing import Any

import numpy as np
import pytest
import tiny
import torch
from torch import Tensor

import assay
from assay.engine.engine import Engine

Value = Callable[[Tensor], Tensor]

METHODS: dict[str, dict[str, Any]] = {
    "leave_one_out": {},
    "gradient": {},
    "input_x_gradient": {},
    "integrated_gradients": {"steps": 5},
    "lime": {"samples": 40},
    "kernel_shap": {"samples": 40},
    "partition_shap": {},
    "anchors": {"limit": 200},
    "input_marginalization": {"k": 3},
}
every_method = pytest.mark.parametrize("method", list(METHODS))


def engine(model: Any, budget: int | None = None) -> Engine:
    """An engine whose masked language model is a tiny one."""
    return Engine(model, budget=budget, resolve=lambda name: assay.load(tiny.masked_lm()))


def runs(pair: Any, source: Any, method: str) -> Any:
    """The explanation by a method: finite, with the words it should have, and the same after saving."""
    model = assay.load(pair)
    told = assay.explain(model, source, method, engine=engine(model), **METHODS[method])
    back = type(told).from_json(told.to_json())
    assert back.to_dict() == told.to_dict()
    assert [field.part for field in back.text.fields] == [field.part for field in told.text.fields]
    assert all(word in told.to_html() for word in ("film", told.label))
    if hasattr(told, "scores"):
        assert np.isfinite(told.scores).all()
    return told


def company_does_not_matter(pair: Any, sources: Sequence[Any]) -> None:
    model = assay.load(pair)
    for method in ("leave_one_out", "input_x_gradient"):
        alone = [assay.explain(model, one, method, engine=engine(model, 1)) for one in sources]
        together = assay.explain(model, list(sources), method, engine=engine(model, 4096))
        for a, b in zip(alone, together, strict=True):
            assert a.text.strings == b.text.strings
            np.testing.assert_allclose(b.scores, a.scores, atol=1e-4)


def doubled(pair: Any) -> Any:
    """The model in double precision."""
    return deepcopy(pair[0]).double(), pair[1]


def gradient_times_input(told: Any, embedded: Tensor, owners: Sequence[Sequence[int]], value: Value) -> None:
    """The scores of the words, from the bare model given the embeddings: by autograd, and as slopes.

    Slopes need double precision all through; models whose norms go back to float32 have them only roughly.
    """
    point = embedded.clone().requires_grad_()
    (gradient,) = torch.autograd.grad(value(point), point)
    products = (gradient * embedded)[0].sum(-1)
    np.testing.assert_allclose(told.scores, [float(products[list(own)].sum()) for own in owners], rtol=1e-5, atol=1e-9)
    with torch.no_grad():
        np.testing.assert_allclose(told.scores, slopes(embedded, owners, value), rtol=0.05, atol=2e-3)


def slopes(embedded: Tensor, owners: Sequence[Sequence[int]], value: Value, step: float = 1e-3) -> list[float]:
    """For each word, how fast the value moves when the embeddings of its pieces grow."""
    found = []
    for own in owners:
        factor = torch.ones_like(embedded)
        factor[0, list(own)] += step
        found.append(float(value(embedded * factor) - value(embedded * (2 - factor))) / (2 * step))
    return found


def log_odds(log_p: Any) -> Any:
    """Of a float or of a tensor."""
    return log_p - (torch.log(-torch.expm1(log_p)) if isinstance(log_p, Tensor) else np.log(-np.expm1(log_p)))


def saved(pair: Any, directory: Any, source: Any) -> None:
    """The model, saved and loaded again, tells the same."""
    for part in pair:
        part.save_pretrained(directory)
    told = assay.explain(str(directory), source, "leave_one_out")
    again = assay.explain(pair, source, "leave_one_out")
    assert told.text.strings == again.text.strings
    np.testing.assert_allclose(told.scores, again.scores, atol=1e-6)


def refuses(pair: Any, source: Any, said: str, **options: Any) -> None:
    with pytest.raises(assay.AssayError, match=said) as error:
        assay.explain(pair, source, "leave_one_out", **options)
    assert str(error.value).endswith(".")
