"""Editors: a causal language model learns to fill the blanks of a text toward a label (assay.text.blanks).

    train_editor(texts, labels, out="DIR")              afterwards `mice` takes editor="DIR"

In the manner of MiCE's first stage (Ross, Marasovic and Peters 2021, arXiv:2012.13985). Low-rank changes of all linear
layers are trained (or with rank 0 all weights) and merged at the end: the directory holds an ordinary model. A killed
run goes on from its last checkpoint, which is written after every `EVERY` steps.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from torch import Tensor

from assay.errors import BadInput, ModelNotLoaded
from assay.models.directories import require_safe
from assay.storage.files import write_text
from assay.text.blanks import SHORTEST, training_pairs
from assay.training import lora
from assay.training.digests import as_json, digest, digest_of_files
from assay.training.fit import Plan, fit, seeded
from assay.training.place import Place, device, no_bar
from assay.training.prompted import Pair, Prompted, answer_losses

WRITER = "writer"
EVERY = 20  # steps between two checkpoints
_WARM_UP = 0.05
_TIMED = 3  # steps by which the time of all is estimated


@dataclass(frozen=True)
class EditorTraining:
    """How an editor is trained: so many steps, or as many as there is time for."""

    base: str = WRITER
    steps: int = 600
    minutes: float | None = None
    batch: int = 16
    rate: float = 6e-4
    rank: int = 16
    width: int = 160
    seed: int = 0
    device: str | None = None

    def __post_init__(self) -> None:
        if min(self.steps, self.batch) < 1 or self.width < 8 or self.rank < 0 or not self.rate > 0:
            raise BadInput("an editor needs steps and batch >= 1, width >= 8, rank >= 0 and a rate above 0.")
        if self.minutes is not None and not self.minutes > 0:
            raise BadInput(f"minutes are above 0, not {self.minutes}.")

    @property
    def settings(self) -> dict[str, Any]:
        """What decides the weights; where it is trained changes only the last bits."""
        own = {name: value for name, value in asdict(self).items() if name != "device"}
        return {"trainer": "editor", **own, "base_digest": digest_of_files(self.base)}


@dataclass(frozen=True)
class TrainedEditor:
    """Where the editor is, for which labels, and how its training went."""

    path: Path
    labels: tuple[str, ...]
    texts: int
    steps: int
    losses: tuple[float, ...]


def train_editor(
    texts: Sequence[str], labels: Sequence[str], out: str | Path, how: EditorTraining, progress: bool | None = None
) -> TrainedEditor:
    """An editor for these labels, in a directory that must be new or hold the same training, finished or not."""
    names, place = tuple(sorted(set(labels))), Place(Path(out))
    pairs = _pairs(texts, labels, names, how.seed)
    training = as_json({**how.settings, "labels": list(names), "data": digest(list(texts), list(labels))})
    with place.held():
        if place.finished(training):
            _steps_file(place).unlink(missing_ok=True)
            return TrainedEditor(place.path, names, len(pairs), 0, ())
        return _trained(pairs, names, how, training, place, progress)


def _trained(
    pairs: list[Pair],
    names: tuple[str, ...],
    how: EditorTraining,
    training: dict[str, Any],
    place: Place,
    progress: bool | None,
) -> TrainedEditor:
    model, tokenizer = opened_base(how.base)
    rows = Prompted.of(tokenizer, pairs, _width(model, how.width), tokenizer.eos_token_id)
    with seeded(None, how.seed):
        if how.rank:
            lora.add(model.base_model, how.rank)
    model.to(device(how.device))
    steps = _steps(model, rows, how, place)
    fitted = _fit(model, rows, how, steps, place, digest(training), progress)
    if how.rank:
        lora.merge(model.base_model)
    place.save(model, tokenizer, training)
    if how.minutes is not None:
        _steps_file(place).unlink(missing_ok=True)
    return TrainedEditor(place.path, names, len(rows), steps, fitted)


def _pairs(texts: Sequence[str], labels: Sequence[str], names: Sequence[str], seed: int) -> list[Pair]:
    if len(names) < 2:
        raise BadInput("an editor learns from texts of at least two labels.")
    pairs = training_pairs(zip(texts, (label.replace("_", " ") for label in labels), strict=True), seed)
    if not pairs:
        raise BadInput(f"an editor learns from texts of {SHORTEST} words or more, and there are none.")
    return pairs


def opened_base(name: str) -> tuple[Any, Any]:
    """A causal language model and its tokenizer: the writer's base, or a directory."""
    if name == WRITER or name.startswith(f"{WRITER}:"):
        try:
            zoo = import_module("assay_zoo")
            model, tokenizer = zoo.load_writer(name)
        except (ImportError, AttributeError) as error:
            raise ModelNotLoaded("the writer comes with assay-zoo, which is not installed.") from error
        except zoo.ZooError as error:
            raise ModelNotLoaded(str(error)) from error
        return model, tokenizer
    return _from_directory(Path(name))


def _from_directory(path: Path) -> tuple[Any, Any]:
    import transformers as hf

    if not path.is_dir():
        raise ModelNotLoaded(f"there is no directory {path}; an editor starts from `writer` or a local directory.")
    require_safe(path)
    try:
        with no_bar():
            model, found = hf.AutoModelForCausalLM.from_pretrained(
                path,
                local_files_only=True,
                use_safetensors=True,
                trust_remote_code=False,
                dtype="float32",
                output_loading_info=True,
            )
            tokenizer = hf.AutoTokenizer.from_pretrained(path, local_files_only=True, trust_remote_code=False)
    except Exception as error:  # transformers raises many kinds
        raise ModelNotLoaded(f"{path} holds no causal language model: {' '.join(str(error).split())[:160]}") from error
    if found["missing_keys"]:  # transformers would draw them
        missing = ", ".join(sorted(found["missing_keys"])[:3])
        raise ModelNotLoaded(f"{path} holds no causal language model: these weights are missing: {missing}.")
    if tokenizer.eos_token_id is None:
        raise BadInput(f"the tokenizer in {path} has no token that ends a text; set its eos_token.")
    return model, tokenizer


def _fit(
    model: Any, rows: Prompted, how: EditorTraining, steps: int, place: Place, data: str, progress: bool | None
) -> tuple[float, ...]:
    """One epoch of `fit` is so many steps as lie between two checkpoints."""
    many = min(EVERY, steps)
    epochs = -(-steps // many)
    plan = Plan(epochs=epochs, rate=how.rate, warm_up=_WARM_UP, seed=how.seed)
    fitted = fit(
        model,
        lambda rng: rows.batches(how.batch, many, rng),
        lambda chosen: _loss(model, rows, chosen),
        plan,
        checkpoint=place.checkpoint,
        data=data,
        progress=progress,
    )
    return fitted.losses


def _loss(model: Any, rows: Prompted, chosen: Sequence[int]) -> Tensor:
    return answer_losses(model, *rows.batch(chosen, model.device)).mean()


def _steps(model: Any, rows: Prompted, how: EditorTraining, place: Place) -> int:
    """As given; or so many as fit into the minutes, which a run that is resumed finds written down."""
    if how.minutes is None:
        return how.steps
    kept = _steps_file(place)
    if not kept.is_file():
        chosen = rows.batches(how.batch, _TIMED, np.random.default_rng(how.seed))
        began = time.perf_counter()
        for batch in chosen:
            _loss(model, rows, batch).backward()  # type: ignore[no-untyped-call]
        model.zero_grad()
        each = (time.perf_counter() - began) / len(chosen)
        write_text(kept, str(max(1, int(60 * how.minutes / each))))
    try:
        return int(kept.read_text(encoding="utf-8"))
    except ValueError:
        raise BadInput(f"{kept} does not hold a number of steps; delete it to start again.") from None


def _steps_file(place: Place) -> Path:
    return place.path.with_name(f"{place.path.name}.steps")


def _width(model: Any, width: int) -> int:
    """No more tokens than the model has positions for."""
    return int(min(width, getattr(model.config, "max_position_embeddings", None) or width))
