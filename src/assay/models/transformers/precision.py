"""Forwards in half precision, and what that does to the user's explanations.

    load("sst2", dtype="bf16")      on a CPU or a GPU
    load(model, dtype="fp16")       on a GPU

Matrix products of the base model run in the smaller type, by torch's autocast; the sums between its layers and all that
stands above it (the head, and so the logits) stay in float32: a logit of 5 in bfloat16 would be known to 0.03 only,
which is more than most words weigh. The user's model is neither copied nor changed. Scores of such a model also depend
on their company in a batch, by about as much as they depend on the type. How much that is, is measured: the first texts
that a method explains are explained in float32 too, and every explanation says how well the two agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from assay.errors import ModelNotLoaded, UnknownName
from assay.explanations.text_explanation import TextExplanation
from assay.explanations.token_scores import TokenScores
from assay.models.base import TextModel
from assay.models.turn import Turn
from assay.questions.answers import PieceWords
from assay.questions.base import Question
from assay.statistics.arrays import Floats
from assay.text.text import Text

if TYPE_CHECKING:  # it brings torch, which other models do without
    from assay.models.transformers.adapter import HuggingFace

FULL = "fp32"
HALF = {"bf16": "bfloat16", "fp16": "float16"}
SAMPLE = 8  # texts that are explained in float32 too


# What the engine reads of a model, as the reference has it.
_SAME = (
    *("name", "labels", "warnings", "nothing", "fields", "optional", "multi_label", "one_logit", "focus", "target"),
    *("answers", "spelling", "preferred_tokens", "most_rows", "most_places", "enough", "line_tokens"),
    *("question", "chats"),
)


class Difference(NamedTuple):
    """One text, explained in half precision and in float32; None where there is no order to compare."""

    probability: float  # the largest change of one
    label: bool  # whether something else was explained or predicted
    tau: float | None = None
    first: bool | None = None  # whether another word comes first
    score: float | None = None  # the largest change of one, as a share of the largest score


class Lowered(TextModel):
    """A Hugging Face model whose forwards run in half precision; made by `lowered`.

    `reference` is the same model in float32 (the same weights, not a copy of them), which does all the work.
    """

    def __init__(self, reference: HuggingFace, dtype: str) -> None:
        self.reference, self.dtype = reference, dtype
        self.measured: dict[str, dict[str, Difference]] = {}  # for each way of explaining, text by text
        for name in _SAME:
            setattr(self, name, getattr(reference, name))

    @property
    def model(self) -> Any:
        """The user's own model."""
        return self.reference.model

    @property
    def tokenizer(self) -> Any:
        """The user's own tokenizer."""
        return self.reference.tokenizer

    @property
    def bytes(self) -> int:
        return self.reference.bytes

    @property
    def missing(self) -> Mapping[type[Question], str]:
        return self.reference.missing

    @property
    def facts(self) -> tuple[str, ...]:
        return self.reference.facts

    def encode(self, kind: type[Question], rows: Sequence[Any]) -> Sequence[Any]:
        return self.reference.encode(kind, rows)

    def lengths(self, kind: type[Question], encoded: Sequence[Any]) -> Iterable[int]:
        return self.reference.lengths(kind, encoded)

    def sequences(self, kind: type[Question], encoded: Sequence[Any]) -> Iterable[int] | None:
        return self.reference.sequences(kind, encoded)

    def vocabulary_places(self, kind: type[Question], encoded: Sequence[Any]) -> Iterable[int] | None:
        return self.reference.vocabulary_places(kind, encoded)

    def answer(self, kind: type[Question], batch: Sequence[Any]) -> Any:
        return self.reference.answer(kind, batch)

    def collect(self, kind: type[Question], outputs: Sequence[Any]) -> list[Any]:
        return self.reference.collect(kind, outputs)

    def enough_for(self, kind: type[Question]) -> int:
        return self.reference.enough_for(kind)

    def widening_for(self, kind: type[Question]) -> int:
        return self.reference.widening_for(kind)

    def beside(self, other: TextModel) -> TextModel:
        return self.reference.beside(other)

    def names(self, text: Text) -> tuple[str, ...]:
        return self.reference.names(text)

    def clip(self, text: Text) -> Text:
        return self.reference.clip(text)

    def pieces_of(self, text: Text) -> PieceWords | None:
        return self.reference.pieces_of(text)

    def derived(self, spec: str) -> TextModel:
        return Lowered(self.reference.derived(spec), self.dtype)

    def on_device(self, device: str) -> TextModel:
        return Lowered(self.reference.on_device(device), self.dtype)

    @property
    def turn(self) -> Turn:
        return self.reference.turn

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """For this thread alone, since the reference is run by others in float32."""
        with self.turn, self.reference.quiet(), _half(self.reference.network.model, HALF[self.dtype]):
            yield

    def fingerprint(self) -> str:
        return f"{self.reference.fingerprint()}-{self.dtype}"

    def __reduce__(self) -> Any:
        return Lowered, (self.reference, self.dtype)


def lowered(model: TextModel, dtype: str) -> TextModel:
    """The model with forwards in `dtype`."""
    if dtype not in (FULL, *HALF):
        raise UnknownName.of("dtype", dtype, (FULL, *HALF))
    whole = model.reference if isinstance(model, Lowered) else model
    if dtype == FULL:
        return whole
    return Lowered(_required(whole, dtype), dtype)


def _required(model: TextModel, dtype: str) -> HuggingFace:
    """The model, if its forwards can run in this type and be measured against float32."""
    from assay.models.transformers.adapter import HuggingFace  # brings torch, which other models do without

    if not isinstance(model, HuggingFace):
        raise ModelNotLoaded(f"dtype={dtype!r} is for transformers models; {model.name} chooses its own numbers.")
    types = {str(p.dtype).removeprefix("torch.") for p in model.model.parameters() if p.is_floating_point()}
    if types != {"float32"}:
        raise ModelNotLoaded(
            f"dtype={dtype!r} needs weights in float32, to measure against; those of {model.name} are in "
            f"{' and '.join(sorted(types))}. Load the model in float32, or leave dtype out."
        )
    if dtype == "fp16" and model.device.type == "cpu":
        raise ModelNotLoaded("fp16 is for a GPU; on a CPU take bf16.")
    return model


@contextmanager
def _half(model: Any, dtype: str) -> Iterator[None]:
    """Within it the base model computes in `dtype`; the outer context keeps the rounded weights from batch to batch."""
    import torch

    device = next(model.parameters()).device.type
    base = getattr(model, "base_model", model)
    handles = [
        base.register_forward_pre_hook(lambda *_: torch.set_autocast_enabled(device, True)),
        base.register_forward_hook(lambda module, args, output: _left(torch, device, output)),
    ]
    try:
        with torch.autocast(device, dtype=getattr(torch, dtype), enabled=False):
            yield
    finally:
        for handle in handles:
            handle.remove()


def _left(torch: Any, device: str, output: Any) -> Any:
    """The end of the base model: what comes after it computes in float32 and is given float32."""
    torch.set_autocast_enabled(device, False)

    def wide(value: Any) -> Any:
        return value.float() if isinstance(value, torch.Tensor) and value.is_floating_point() else value

    if isinstance(output, Mapping):
        for name, value in output.items():
            output[name] = wide(value)  # type: ignore[index]
        return output
    return tuple(map(wide, output)) if isinstance(output, tuple) else wide(output)


def difference(low: TextExplanation, full: TextExplanation) -> Difference:
    """What half precision did to one explanation."""
    a, b = (np.array(list(e.prediction.values())) for e in (low, full))
    apart = (low.text, low.target) != (full.text, full.target)
    common = float(np.abs(a - b).max()), apart or bool(a.argmax() != b.argmax())
    if apart or len(low.text) < 2 or not (isinstance(low, TokenScores) and isinstance(full, TokenScores)):
        return Difference(*common)
    return Difference(
        *common, _tau(low.scores, full.scores), bool(low.ranking[0] != full.ranking[0]), _moved(low.scores, full.scores)
    )


def _tau(a: Floats, b: Floats) -> float:
    """Kendall's tau-b; a map of equal scores agrees with another such map, and with no other."""
    from scipy.stats import kendalltau  # slow to import, and only wanted here

    flat = len(set(a.tolist())) == 1, len(set(b.tolist())) == 1
    return float(all(flat)) if any(flat) else float(kendalltau(a, b).statistic)


def _moved(a: Floats, b: Floats) -> float:
    largest, change = float(np.abs(b).max()), float(np.abs(a - b).max())
    return change / largest if largest else float(change > 0)


def facts(dtype: str, found: Sequence[Difference]) -> dict[str, Any]:
    """All texts together, as plain data."""
    known = {
        "dtype": dtype,
        "texts": len(found),
        "label_changed": sum(one.label for one in found),
        "largest_probability_change": max((one.probability for one in found), default=0.0),
    }
    return known | _order([one for one in found if one.tau is not None])


def _order(found: Sequence[Difference]) -> dict[str, Any]:
    if not found:
        return {}
    return {
        "tau": float(np.mean([one.tau for one in found])),
        "least_tau": float(np.min([one.tau for one in found])),
        "first_word_changed": sum(bool(one.first) for one in found),
        "largest_score_change": float(np.max([one.score for one in found])),
    }


def sentence(known: Mapping[str, Any]) -> str:
    """The same in words."""
    if not known["texts"]:
        return f"{known['dtype']}: not measured against {FULL}, since the first texts could not be explained"
    text = f"{known['dtype']}: on {known['texts']} of your texts "
    if "tau" in known:
        text += f"the order of the words agreed with {FULL} by tau {known['tau']:.2f}; "
        text += f"the first word changed in {known['first_word_changed']}"
    else:
        text += f"no probability moved by more than {known['largest_probability_change']:.2g}"
    return text + (f"; another label in {known['label_changed']}" if known["label_changed"] else "")
