"""IMDb reviews of fewer than 400 tokens: imdb/{train,test}.jsonl, plain or .xz.

Jain and Wallace take the word numbers that Keras publishes, in which no mark but the apostrophe is left; we strip the
same marks from the reviews. `<br />` is a blank here (there it is the word "br"). Dev is 20 % of the short training
reviews, test 20 % of the short test reviews, both with their seed; but our rows stand in another order than theirs, so
it is another sample. Maas et al. (2011), https://aclanthology.org/P11-1015.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from assay.text.example import Example
from assay_studies.data.imdb import LABELS
from assay_studies.data.imdb import read as reviews
from assay_studies.data.jain_wallace.filters import Bounds
from assay_studies.data.jain_wallace.places import found
from assay_studies.data.jain_wallace.splits import Split, parted, with_dev
from assay_studies.data.jain_wallace.tokens import plain

BOUNDS = Bounds(above=6)
TABLE_1 = ("12500 / 12500", "2184 / 2172")
_LONGEST, _SHARE, _SEED = 400, 0.2, 1378
_MARKS = str.maketrans(dict.fromkeys('!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~', " "))
_NOTES = (
    f"Reviews of {_LONGEST} tokens or more are left out; the paper's train sizes count them.",
    "Marks are stripped as in the list of word numbers that the authors took; the test reviews are another sample.",
)


def read(directory: Path) -> Split:
    train, dev = with_dev(list(_short(found(directory / "imdb", "train.jsonl.xz", "train.jsonl"))), _SHARE, _SEED)
    _, test = parted(list(_short(found(directory / "imdb", "test.jsonl.xz", "test.jsonl"))), _SHARE, _SEED)
    return Split("imdb", train, dev, tuple(test), LABELS, notes=_NOTES)


def _short(path: Path) -> Iterator[Example]:
    for review in reviews(path):
        text = plain(review.strings[0].replace("<br />", " ").translate(_MARKS))
        if text.count(" ") + 1 < _LONGEST:
            yield replace(review, strings=(text,))
