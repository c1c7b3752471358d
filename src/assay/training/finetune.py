"""Fine-tuning: a Hugging Face encoder under a new head learns to tell labels apart.

    model = fine_tune(texts, labels, start="mlm", out="DIR")      afterwards assay.load("DIR") opens it

All weights are trained, or with `rank` only low-rank changes of them (assay.training.lora) and the head. The start is
a bundled model, a directory, a hub name, or (model, tokenizer); of a classifier only the encoder is taken, its head is
made anew. With `out` a killed run goes on from its last finished epoch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import deepcopy
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from assay.errors import BadInput, ModelNotLoaded
from assay.models import TextModel, bundled, load
from assay.models.directories import require_safe
from assay.models.hub import pinned
from assay.text.text import Row
from assay.training import lora
from assay.training.batches import Rows, rows_of
from assay.training.digests import as_json, digest, digest_of_files
from assay.training.fit import Plan, fit, seeded
from assay.training.place import KeptInPlace, Place, device, opened
from assay.training.recipes import Labelled

_LONGEST = 128


@dataclass(frozen=True)
class FineTune(KeptInPlace):
    """A recipe that fine-tunes; the settings are those of Pham et al. (2022) if nobody says.

    With `every_epoch` the weights after each epoch are kept too (assay.training.epochs).
    """

    start: Any = "mlm"
    plan: Plan = field(default_factory=Plan)
    batch: int = 32
    width: int = _LONGEST
    rank: int = 0
    device: str | None = None
    half: bool = False
    every_epoch: bool = False

    def __post_init__(self) -> None:
        pair = isinstance(self.start, tuple) and len(self.start) == 2 and hasattr(self.start[0], "base_model")
        if not pair and not isinstance(self.start, str | Path):
            raise BadInput(f"training starts from a name, a directory or (model, tokenizer), not {self.start!r:.60}.")
        if min(self.batch, self.width) < 1 or self.rank < 0:
            raise BadInput(
                f"batch and width are 1 or more, rank is 0 or more, not {self.batch, self.width, self.rank}."
            )

        if self.rank and self.every_epoch:
            raise BadInput("every_epoch keeps whole weights, which low-rank training has only at its end: use rank=0.")

    @property
    def settings(self) -> Mapping[str, Any]:
        """Where the model lies changes only the last bits."""
        own = {"batch": self.batch, "width": self.width, "rank": self.rank, "half": self.half}
        own |= {"every_epoch": True} if self.every_epoch else {}
        return {"trainer": "finetune", **_known_by(self.start), **own, **asdict(self.plan)}

    def make(
        self, texts: Sequence[Row], labels: Sequence[str], seed: int, out: Path, *, dev: Labelled | None = None
    ) -> None:
        """Train into the directory; see `assay.training.recipes`."""
        fine_tune(
            texts, labels, how=replace(self, plan=replace(self.plan, seed=seed)), dev=dev, out=out, progress=False
        )

    def open(self, out: Path) -> TextModel:
        return opened(out, self.device)


def fine_tune(
    texts: Sequence[str | Row],
    labels: Sequence[str],
    *,
    how: FineTune | None = None,
    dev: tuple[Sequence[str | Row], Sequence[str]] | None = None,
    out: str | Path | None = None,
    progress: bool | None = None,
    **settings: Any,
) -> TextModel:
    """A classifier of these texts; `settings` are fields of FineTune.

    `dev` are texts and labels on which the best epoch is chosen; `out` the directory to save the model in, which must
    be new or hold the same training, finished or not.
    """
    how = replace(how or FineTune(), **settings)
    given, names = rows_of(texts, labels), _label_names(labels)
    place = None if out is None else Place(Path(out))
    training = as_json({**how.settings, "labels": names, "data": digest(given, labels, dev)})
    if place and place.finished(training):
        return opened(place.path, how.device)
    base, tokenizer = started(how.start)
    rows = Rows.of(given, [names.index(label) for label in labels], tokenizer, _width(tokenizer, base, how.width))
    model = _fresh(how, base, names, tokenizer)
    fit(
        model,
        lambda rng: rows.epoch(how.batch, rng),
        _loss(model, rows, how.half),
        how.plan,
        dev=_accuracy(model, tokenizer, dev) if dev else None,
        checkpoint=place.checkpoint if place else None,
        data=digest(training),
        progress=progress,
        after_epoch=partial(place.save_epoch, model, tokenizer) if place and how.every_epoch else None,
    )
    if how.rank:
        lora.merge(model.base_model)
    if place:
        place.save(model, tokenizer, training)
    return load((model, tokenizer))


def _label_names(labels: Sequence[str]) -> list[str]:
    names = sorted(set(labels))
    if len(names) < 2:
        raise BadInput("a classifier learns from texts of at least two labels.")
    return names


def _fresh(how: FineTune, base: Any, names: Sequence[str], tokenizer: Any) -> Any:
    """The model before its first step, where it is to be trained."""
    with seeded(None, how.plan.seed):
        model = with_head(base, names, tokenizer)
        if how.rank:
            lora.add(model.base_model, how.rank)
    return model.to(device(how.device))


def _loss(model: Any, rows: Rows, half: bool) -> Callable[[list[int]], Tensor]:
    def loss(chosen: list[int]) -> Tensor:
        inputs, labels = rows.batch(chosen, model.device)
        with _precision(model.device, half):
            logits = model(**inputs).logits
        return cross_entropy(logits.float(), labels)

    return loss


def _precision(device: torch.device, half: bool) -> AbstractContextManager[Any]:
    return torch.autocast(device.type, torch.bfloat16) if half else nullcontext()


def _accuracy(model: Any, tokenizer: Any, dev: tuple[Sequence[str | Row], Sequence[str]]) -> Callable[[], float]:
    texts, labels = rows_of(*dev), dev[1]

    def accuracy() -> float:
        reader = load((model, tokenizer))
        found = reader.predict([row if len(row) == 2 else row[0] for row in texts]).argmax(axis=1)
        right = sum(reader.labels[i] == label for i, label in zip(found, labels, strict=True))
        return float(right / len(labels))

    return accuracy


def started(start: Any) -> tuple[Any, Any]:
    """The encoder and the tokenizer to start from, the user's own objects left alone."""
    if isinstance(start, tuple):
        return start[0].base_model, deepcopy(start[1])
    if str(start) in bundled():
        model, tokenizer = import_module("assay_zoo").load(str(start))
        return model.base_model, tokenizer
    return _from_pretrained(str(start))


def _from_pretrained(name: str) -> tuple[Any, Any]:
    import transformers as hf

    local = Path(name).is_dir()
    source, revision = (name, None) if local else pinned(name)
    safe = {"trust_remote_code": False, "local_files_only": local, "revision": revision or "main"}
    try:
        if local:
            require_safe(Path(name))
        base, report = hf.AutoModel.from_pretrained(source, use_safetensors=True, output_loading_info=True, **safe)
        tokenizer = hf.AutoTokenizer.from_pretrained(source, **safe)
    except Exception as error:  # transformers raises many kinds
        raise ModelNotLoaded(f"training cannot start from {name}: {' '.join(str(error).split())[:200]}") from error
    _require_weights(name, report["missing_keys"])
    return base, tokenizer


def with_head(base: Any, names: Sequence[str], tokenizer: Any) -> Any:
    """A classifier with a copy of this encoder and a random head."""
    import transformers as hf

    config = deepcopy(base.config)
    config.id2label, config.label2id = dict(enumerate(names)), {name: i for i, name in enumerate(names)}
    config.problem_type = "single_label_classification"
    config.pad_token_id = tokenizer.pad_token_id
    try:
        model = hf.AutoModelForSequenceClassification.from_config(config)
    except ValueError as error:
        raise ModelNotLoaded(f"there is no classifier of the kind {config.model_type!r} in transformers.") from error
    report = model.base_model.load_state_dict(base.state_dict(), strict=False)
    _require_weights(type(base).__name__, report.missing_keys)
    return model.float()


def _require_weights(name: str, missing: Sequence[str]) -> None:
    """A head may be missing, and the pooler is one; anything else would be random."""
    if lost := sorted(key for key in missing if "pooler" not in key):
        raise ModelNotLoaded(f"{name} has no weights for {', '.join(lost[:3])}: the training would begin with noise.")


def _width(tokenizer: Any, base: Any, width: int) -> int:
    """No more tokens than the model has positions for."""
    positions = getattr(base.config, "max_position_embeddings", None) or width
    offset = (base.config.pad_token_id or 0) + 1 if base.config.model_type in ("roberta", "xlm-roberta") else 0
    return int(min(width, tokenizer.model_max_length, positions - offset))


def _known_by(start: Any) -> dict[str, str]:
    """A start as it is written down: a name; a directory and what it holds; the kind and the digest of objects."""
    if not isinstance(start, str | Path):
        return {"start": _named(*start)}
    held = None if str(start) in bundled() else digest_of_files(start)
    return {"start": str(start), **({"start_digest": held} if held else {})}


def _named(model: Any, tokenizer: Any) -> str:
    tensors = model.base_model.state_dict().items()
    digests = [(name, digest(tensor.detach().cpu().float().numpy().tobytes())) for name, tensor in tensors]
    return f"{type(model.base_model).__name__} {digest(digests, sorted(tokenizer.get_vocab().items()))}"
