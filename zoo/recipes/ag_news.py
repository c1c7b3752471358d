"""ag_news: the topic of a news item, four labels, an adapter trained on the 8,814 rows at hand (Zhang et al. 2015)."""

import data
from classify import Task, run
from options import options
from train import Plan

TASK = Task(
    name="ag_news",
    title="topic of a news item",
    task="text-classification",
    labels=("World", "Sports", "Business", "Sci/Tech"),
    fields=("text",),
    train=lambda where: data.ag_news(where, "train"),
    parts={"AG news test": lambda where: data.ag_news(where, "test")},
    plan=Plan(epochs=4, batch=64, rate=5e-4, width=192),
    data=(("AG news train, a part", "AG corpus, non-commercial use"),),
    kept_out="the whole official test set; no text of it is in the training part.",
    bad_at=("Not tested on news after 2005, nor on text that is no news.",),
)

if __name__ == "__main__":
    run(TASK, options(__doc__))
