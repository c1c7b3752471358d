"""sst2: the sentiment of a sentence of a film review, an adapter trained on SST-2 phrases (Socher et al. 2013)."""

import clean
import data
from classify import Task, run
from options import options
from train import Plan

TASK = Task(
    name="sst2",
    title="sentiment of film-review sentences",
    task="text-classification",
    labels=("negative", "positive"),
    fields=("text",),
    train=clean.sst2_train,
    parts={
        "SST-2 dev": lambda where: data.sst2(where, "dev"),
        "treebank test": lambda where: data.sst_binary(where, "test"),
    },
    plan=Plan(epochs=3, batch=128, width=96),
    data=(("SST-2 train phrases", "Stanford Sentiment Treebank, research use, cite Socher et al. 2013"),),
    kept_out="every phrase whose letters and digits equal a dev or test sentence of SST; IMDb test is never read.",
    bad_at=("Not tested on other text than film reviews; it has no neutral label, so it must take a side.",),
)

if __name__ == "__main__":
    run(TASK, options(__doc__))
