"""snli: does a premise entail, contradict or leave open a hypothesis? An adapter trained on 44,000 pairs of SNLI train.

They are the part of SNLI train that is at hand, and counterfactual pairs made from SNLI train by Kaushik et al. (2020,
arXiv:1909.12434). No pair of SNLI dev or test is read, so both are clean. It starts from the squad adapter, which has
learnt to compare two texts: run squad.py first.
"""

from typing import Any

import classify
import clean
import data as read
from classify import Task, run
from data import NLI_LABELS
from encoder import Model
from options import Options, options
from scores import share
from train import Plan, predict


def hans(task: Task, model: Model, chosen: Options) -> dict[str, Any]:
    """The share of right answers to HANS, by heuristic: whether a pair is entailed or not, as its authors score it."""
    figures = {}
    for name, rows in sorted(read.hans(chosen.data).items()):
        coded = classify.coding(chosen.out, rows[: classify.QUICK if chosen.quick else None], task.plan.width)
        chances = predict(model, coded, device=chosen.device).double().numpy()
        correct = (chances.argmax(1) > 0) == (coded.targets.numpy() > 0)
        figures[name] = share(correct.astype(float), chances.max(1))
    return figures


TASK = Task(
    name="snli",
    title="entailment between two sentences",
    task="pair-classification",
    labels=NLI_LABELS,
    fields=("premise", "hypothesis"),
    train=clean.snli_train,
    parts={
        "SNLI test": lambda where: read.snli(where, "test"),
        "SNLI dev": lambda where: read.snli(where, "dev"),
        "SNLI dev, highlighted": clean.highlighted,
        "MNLI validation, 5,000 pairs": read.mnli,
    },
    also=hans,
    plan=Plan(epochs=6, batch=256, rate=1e-3, warm_up=0.06, width=96, start="squad"),
    teachers=2,
    data=(
        (
            "a part of SNLI train, and counterfactual NLI train",
            "SNLI CC BY-SA 4.0; counterfactual data Apache-2.0",
        ),
    ),
    kept_out=(
        "all of SNLI dev and test, and every pair with one of their premises. The encoder below, a masked language "
        "model, has read texts of the half of them that assay_zoo.heldout does not keep, without labels."
    ),
    bad_at=("It takes word overlap for entailment: see HANS.", "Trained on nothing but captions of photographs."),
)

if __name__ == "__main__":
    run(TASK, options(__doc__))
