"""A data directory in the published formats with texts of our own, and tiny models that know its labels."""

from __future__ import annotations

import json
import lzma
from copy import deepcopy
from pathlib import Path
from typing import Any

import tiny

from assay.models import load

SENTENCES = [
    "a gripping , funny film that never lets go of its audience",
    "the plot was dull , the acting worse",
    "an utterly charming comedy with a big heart",
    "a slow , sad and strangely beautiful story about loss",
    "unwatchable rubbish from beginning to end",
    "the best scenes come after the first hour",
]
GOOD = {"gripping", "funny", "charming", "beautiful", "best", "heart"}
BAD = {"dull", "worse", "unwatchable", "rubbish", "sad"}
PAIRS = [
    ("A man in a red shirt is playing a guitar .", "Nobody is playing music .", "contradiction"),
    ("Two dogs run through the tall grass .", "The dogs are outside .", "entailment"),
    ("The street is empty .", "Nobody is on the street .", "entailment"),
]
NEUTRAL = ("A man is playing a guitar .", "The man is famous .", "neutral")


def label(sentence: str) -> int:
    words = sentence.split()
    return int(sum(w in GOOD for w in words) >= sum(w in BAD for w in words))


def tree(sentence: str) -> str:
    """A right-branching tree, one class for each word and that of the sentence for the rest."""
    words = [f"({4 if w in GOOD else 0 if w in BAD else 2} {w.capitalize()})" for w in sentence.split()]
    whole, built = 3 if label(sentence) else 1, words[-1]
    for word in reversed(words[:-1]):
        built = f"({whole} {word} {built})"
    return built


def write(place: Path) -> Path:
    for name in ("sst2", "sst/trees", "esnli", "esnli_dev_test_nile"):
        (place / name).mkdir(parents=True)
    rows = "".join(f"{s} \t{label(s)}\n" for s in SENTENCES)
    for split in ("dev", "train"):
        (place / "sst2" / f"{split}.tsv").write_text(f"sentence\tlabel\n{rows}", encoding="utf-8")
    (place / "sst/trees/dev.txt").write_text("\n".join(map(tree, SENTENCES)), encoding="utf-8")
    starred = "".join("\t".join(star(i, *p)) + "\n" for i, p in enumerate([*PAIRS, NEUTRAL]))
    (place / "esnli_dev_test_nile/dev.tsv.xz").write_bytes(lzma.compress(starred.encode()))
    lines = [json.dumps({"snli_dev_line": i, **pair(*p)}) for i, p in enumerate(PAIRS)]
    (place / "esnli/dev_human_highlights_from_im.jsonl").write_text("\n".join(lines), encoding="utf-8")
    return place


def pair(premise: str, hypothesis: str, told: str) -> dict[str, Any]:
    words = {"premise": premise.split(), "hypothesis": hypothesis.split()}
    marks = {f"{name}_highlight": [int(len(w) > 5) for w in of] for name, of in words.items()}
    return {"label": told, **words, **marks}


def star(number: int, premise: str, hypothesis: str, told: str) -> list[str]:
    """As the other file has it: one person marked the last word of the hypothesis, and punctuation stands close."""
    close = [sentence.replace(" .", ".") for sentence in (premise, hypothesis)]
    marked = " ".join([*close[1].split()[:-1], f"*{close[1].split()[-1]}*"])
    return [f"pair{number}", told, *close, "one", "two", "three", close[0], f" {marked}", "yes", "no", "open"]


def models() -> dict[str, Any]:
    """A sentiment model, a model of pairs and a masked language model, all untrained.

    The last is made anew, as the others are: on one that other tests asked too, transformers leaves hooks that cannot
    be sent to a process.
    """
    names = ("entailment", "neutral", "contradiction")
    pairs = load(named(tiny.bert(), names))
    pairs.fields = ("premise", "hypothesis")
    mlm = tiny.masked_lm.__wrapped__()
    return {"sst2": named(tiny.bert(num_labels=2), ("negative", "positive")), "snli": pairs, "mlm": mlm}


def named(source: tuple[Any, Any], names: tuple[str, ...]) -> tuple[Any, Any]:
    """With these labels, and weights that do not send all texts to one of them."""
    config = deepcopy(source[0].config)
    config.id2label = dict(enumerate(names))
    return tiny.seeded(lambda: type(source[0])(config), seed=3), source[1]
