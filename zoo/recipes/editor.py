"""writer:editor: fills for the blanks of a sentence, toward a label; an adapter for edits in the manner of MiCE.

Ross, Marasovic and Peters (2021, arXiv:2012.13985) train T5 to fill masked spans of a text behind its label; here the
prompt is `positive: a [BLANK] film that [BLANK]` and the answer ` fill | fill`, from SST-2 training phrases.
"""

from pathlib import Path

from assay.text.blanks import training_pairs
from clean import sst2_train
from data import sst2
from options import options
from writing import Pair, Writing, run

LABELS = ("negative", "positive")


def pairs(rows: list[tuple[tuple[str, ...], int]], seed: int) -> list[Pair]:
    """Every long enough phrase once, with blanks of its own."""
    return training_pairs(((texts[0], LABELS[label]) for texts, label in rows), seed)


def train(data: Path) -> list[Pair]:
    """SST-2 training phrases without those that are a dev or test sentence."""
    return pairs(sst2_train(data), 0)


def dev(data: Path) -> list[Pair]:
    """SST-2 dev sentences."""
    return pairs(sst2(data, "dev"), 1)


TASK = Writing(
    name="editor",
    title="fills for the blanks of a sentence, toward a label",
    train=train,
    parts={"SST-2 dev": dev},
    data=(("SST-2 train phrases", "Stanford Sentiment Treebank, research use, cite Socher et al. 2013"),),
    kept_out="every phrase whose letters and digits equal a dev or test sentence of SST.",
    bad_at=(
        "Fluency is mixed: score fills by their likelihood and keep the fluent ones.",
        "Not trained on other text than film reviews in lower case.",
    ),
    width=128,
)

if __name__ == "__main__":
    run(TASK, options(__doc__))
