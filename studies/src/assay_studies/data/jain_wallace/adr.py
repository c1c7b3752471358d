"""Tweets that tell of an adverse drug reaction (1) or of none (0).

adr/adr_dataset.csv   the authors' own table, text, label, exp_split: words are lemmas, drugs are DRUG
adr/tweets.tsv        the Twitter ADR corpus, no header: tweet id, user id, class (0 or 1), text, as its download
                      script writes them; tweets that are gone have the text "Not Available" and are left out

From the second, 20 % are test, evenly over the classes, with the authors' seed. Most tweets of the corpus are gone.
Nikfarjam et al. (2015), doi:10.1093/jamia/ocu041; Sarker and Gonzalez (2015), doi:10.1016/j.jbi.2014.11.002.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from assay.data.files import table
from assay.text.example import Example
from assay_studies.data.jain_wallace.filters import Bounds
from assay_studies.data.jain_wallace.splits import Split, parted, tabled, with_dev
from assay_studies.data.jain_wallace.tokens import tokenised

LABELS = ("no reaction", "reaction")
BOUNDS = Bounds(above=5, below=100)
TABLE_1 = ("14446 / 1939", "3636 / 487")
_SHARE, _SEED = 0.2, 13020
_COLUMNS = ("tweet", "user", "class", "text")
_GONE = "Not Available"
_NOTE = "The tweets that are still there, as they were written: not lemmas, and the drugs by their names."


def read(directory: Path) -> Split:
    folder = directory / "adr"
    if (folder / "adr_dataset.csv").exists():
        return tabled("adr", folder / "adr_dataset.csv", LABELS)
    rows = list(_tweets(folder / "tweets.tsv"))
    rest, test = parted(rows, _SHARE, _SEED, [row.label for row in rows])
    train, dev = with_dev(rest)
    return Split("adr", train, dev, tuple(test), LABELS, notes=(_NOTE,))


def _tweets(path: Path) -> Iterator[Example]:
    for row in table(path, _COLUMNS, tabs=True):
        label, text = row.string("class"), row.string("text")
        if label not in ("0", "1"):
            row.place.refuse(f"the class must be 0 or 1, not {label!r}")
        if text.strip() != _GONE:
            yield Example(row.string("tweet"), (tokenised(text),), LABELS[int(label)])
