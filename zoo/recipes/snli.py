"""snli: does a premise entail, contradict or leave open a hypothesis? An adapter trained on 22,000 pairs.

SNLI's training pairs are not at hand, so it learns from the parts of dev and test that are not held out and from the
counterfactual pairs of Kaushik et al. (2020, arXiv:1909.12434). It starts from the squad adapter, which has learnt to
compare two texts: run squad.py first.
"""

import clean
from classify import Task, run
from data import NLI_LABELS
from options import options
from train import Plan

TASK = Task(
    name="snli",
    title="entailment between two sentences",
    task="pair-classification",
    labels=NLI_LABELS,
    fields=("premise", "hypothesis"),
    train=clean.snli_train,
    parts={
        "SNLI test, clean half": lambda where: clean.snli_clean(where, "test"),
        "SNLI dev, clean part": lambda where: clean.snli_clean(where, "dev"),
        "SNLI dev, clean and highlighted": clean.clean_highlighted,
    },
    plan=Plan(epochs=6, batch=256, rate=1e-3, warm_up=0.06, width=96, start="squad"),
    teachers=3,
    data=(
        (
            "SNLI dev and test without the clean parts, and counterfactual NLI train",
            "SNLI CC BY-SA 4.0; counterfactual data Apache-2.0",
        ),
    ),
    kept_out="all pairs of the clean premises, see assay_zoo.heldout; no training pair has such a premise.",
    bad_at=(
        "Not tested on other text than captions of photographs and short claims about them.",
        "The rest of SNLI dev and test was its training data: never score it there.",
    ),
)

if __name__ == "__main__":
    run(TASK, options(__doc__))
