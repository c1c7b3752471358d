"""Which layers hide changed labels from self-influence: the squared gradient of each part of a fine-tuned encoder.

    python benchmarks/influence_layers.py DIR [--rows 6920] [--device cuda]        needs ASSAY_DATA with sst2
    python benchmarks/influence_layers.py DIR --rows 60 --device cpu               # a small try

The model is that of the study `influence` (of its directory, or trained into it): `mlm` fine-tuned on phrases of SST-2,
a tenth of them with another label. The gradient of a text's loss is (1 - p) times that of the log-odds of its label, p
being the probability of that label: so its length is the product of how wrong the model is and of how far the log-odds
move with the weights. The lines say how many of the changed labels are in the first fifth by each factor and by their
product, in each part of the model and in all, after every epoch.

DIR/layers.npz    `wrong`, `p` [epochs, rows], and `squares` [epochs, parts, rows], as far as they are known
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from assay.checks.label_correction import Flipped
from assay.methods.influential.tracin import Tracin
from assay.questions.answers import Predictions
from assay.questions.base import CHECKPOINT, Conversation, elsewhere
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.predict import Predict
from assay.questions.train import Train
from assay.text.sample import Sample
from assay.text.text import Text
from assay.text.training_set import TrainingSet
from assay_studies.influence.flipped import first_fifth
from assay_studies.influence.sizes import Sizes
from assay_studies.influence.tasks import EPOCHS, Task, tasks
from assay_studies.request import Request
from assay_studies.store import Store

LABELS = ("negative", "positive")
PARTS = {
    "head": "classifier",
    "pooler": "pooler",
    **{f"layer {number}": rf"layer\.{number}\." for number in reversed(range(6))},
    "places, types and norm": r"embeddings\.(position|token_type|Layer)",
    "word embeddings": "word_embeddings",
}


def main(out: Path, rows: int = 6920, device: Annotated[str, typer.Option()] = "cuda", changed: float = 0.1) -> None:
    sizes = Sizes(bag=0, attentive=0, encoder=rows)
    (task,) = tasks(Request(out=out, device=device), sizes, Store(out, device))
    flipped = Flipped.of(list(task.sample(rows, "training texts")), LABELS, changed, 0)
    task.ask(measured(task, flipped, out / "layers.npz"))
    show(out / "layers.npz")


def measured(task: Task, flipped: Flipped, place: Path) -> Conversation[None]:
    """Epoch by epoch, the last one first; what is known is kept."""
    name: str = yield Train(task.recipe(epochs=True), flipped.sample, seed=0)
    count = len(flipped.sample)
    p, squares = np.full((EPOCHS, count), np.nan), np.full((EPOCHS, len(PARTS), count), np.nan)
    for epoch in reversed(range(EPOCHS)):
        p[epoch] = yield from elsewhere(chances(flipped.sample, epoch + 1), name)
        for number, (part, layers) in enumerate(PARTS.items()):
            way = Tracin(train=TrainingSet(flipped.sample), checkpoints=(epoch + 1,), layers=layers)
            squares[epoch, number] = yield from elsewhere(way.self_influence(), name)
            np.savez_compressed(place, wrong=np.array(sorted(flipped.wrong)), p=p, squares=squares)
            print(f"epoch {epoch + 1}, {part}", flush=True)


def chances(sample: Sample, epoch: int) -> Conversation[np.ndarray]:
    """The probability of each text's label."""
    facts: KnownFacts = yield ModelFacts()
    rows = list(sample)
    answers: Predictions = yield Predict(*(Text.of(row.text) for row in rows)).sent_to(f"{CHECKPOINT}{epoch}")
    return np.asarray(answers.probabilities[np.arange(len(rows)), [facts.labels.index(str(r.label)) for r in rows]])


def show(place: Path) -> None:
    held: Any = np.load(place)
    wrong = held["wrong"].tolist()
    for epoch, (p, squares) in enumerate(zip(held["p"], held["squares"], strict=True), start=1):
        off, known = (1 - p) ** 2, dict(zip(PARTS, squares, strict=True))
        above = squares[:-1].sum(axis=0)
        known |= {"all above the word embeddings": above, "all": above + squares[-1]}
        print(f"epoch {epoch}: by the loss {found(off, wrong):.3f}; of each part its share of all squares, what its")
        print("  squares find, what the slope of the log-odds alone finds, their rank correlation with the loss")
        for part, one in known.items():
            share, slope = one.sum() / (above + squares[-1]).sum(), one / np.maximum(off, 1e-12)
            alike = np.corrcoef(np.argsort(np.argsort(slope)), np.argsort(np.argsort(off)))[0, 1]
            print(
                f"  {part}: {share:.3f}  {found(one, wrong):.3f}  {found(slope, wrong):.3f}  {alike:+.3f}", flush=True
            )


def found(scores: np.ndarray, wrong: list[int]) -> float:
    return float(first_fifth(scores, wrong).mean())


if __name__ == "__main__":
    typer.run(main)
