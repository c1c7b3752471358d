"""Score the packed models again, on a CPU in fp32 as a user loads them, and write those figures into the cards.

    python zoo/recipes/verify.py --data DIR --device cpu [--only NAME]

A model passes when each figure is within 0.2 points of what its training run measured.
"""

import sys
from typing import Any

import ag_news
import card
import classify
import mlm
import snli
import squad
import sst2
import tagger
from encoder import Model
from options import Options, options

import assay_zoo
from assay_zoo import cards

CLASSIFIERS = {task.name: task for task in (sst2.TASK, snli.TASK, ag_news.TASK)}
NEAR = 0.002


def run(chosen: Options) -> None:
    """Verify all models, or one."""
    cards.WEIGHTS = chosen.out
    wrong = [line for name in assay_zoo.names() if chosen.only in (None, name) for line in verify(name, chosen)]
    if wrong:
        sys.exit("\n".join(wrong))


def verify(name: str, chosen: Options) -> list[str]:
    """Score one packed model, write the card, and say which figures are off."""
    model: Model = assay_zoo.load(name)[0]
    again = figures(name, model.to(chosen.device), chosen)
    facts = card.read(chosen.out, name)
    card.write(chosen.out, facts | {"cpu": again})
    gaps = {part: card.value(one) - card.value(facts["metrics"][part]) for part, one in again.items()}
    print(name, {part: f"{gap:+.4f}" for part, gap in gaps.items()}, flush=True)
    return [f"{name}, {part}: off by {gap:+.4f}" for part, gap in gaps.items() if abs(gap) > NEAR]


def figures(name: str, model: Model, chosen: Options) -> dict[str, Any]:
    """The figures that the model's recipe reports."""
    if name in CLASSIFIERS:
        return classify.score(CLASSIFIERS[name], model, chosen)
    if name == tagger.NAME:
        return tagger.measured(model, chosen)
    return squad.score(model, chosen, limit=None)[0] if name == "squad" else mlm.score(model, chosen)


if __name__ == "__main__":
    run(options(__doc__))
