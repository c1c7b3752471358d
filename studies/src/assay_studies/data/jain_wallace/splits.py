"""A dataset in three parts, and how a part is taken out of another: at random with a seed, as scikit-learn does it.

The authors' own tables have the columns text, label (0 or 1) and exp_split (train, dev or test).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from assay.data.files import PathLike, table
from assay.errors import BadFile
from assay.text.example import Example
from assay_studies.data.jain_wallace.tokens import plain

Task = Literal["classification", "question_answering", "nli"]
Answers = Literal["labels", "vocabulary", "candidates"]
Part = tuple[Example, ...]
Item = TypeVar("Item")
SHARE, SEED = 0.15, 16377  # of the dev part, where the authors have no other
_PARTS = ("train", "dev", "test")


@dataclass(frozen=True)
class Split:
    """A dataset; a pair is (paragraph, question) or (premise, hypothesis).

    `labels` are all answers a model can give, in order: named labels, the words of the training texts, or candidates,
    of which those that stand in the paragraph can be the answer. `notes` say what differs from the paper's data.
    """

    name: str
    train: Part
    dev: Part
    test: Part
    labels: tuple[str, ...]
    task: Task = "classification"
    answers: Answers = "labels"
    notes: tuple[str, ...] = ()

    def sizes(self, part: Literal["train", "dev", "test"]) -> str:
        """How many texts, for each label where there are few: "3035 / 3321"."""
        examples: Part = getattr(self, part)
        counts = Counter(example.label for example in examples)
        return (
            " / ".join(str(counts[label]) for label in self.labels) if self.answers == "labels" else f"{len(examples)}"
        )

    def beside(self, train: str, test: str) -> Split:
        """With a note of its sizes beside the published ones."""
        ours = f"Train {self.sizes('train')}, dev {self.sizes('dev')}, test {self.sizes('test')}"
        note = f"{ours}; the paper has train {train} and test {test} and names no dev part."
        return replace(self, notes=(*self.notes, note))


def parted(
    items: Sequence[Item], share: float, seed: int, by: Sequence[Hashable] | None = None
) -> tuple[list[Item], list[Item]]:
    """The rest, and the share that is taken out; evenly over `by` where it is given."""
    from sklearn.model_selection import train_test_split  # slow to import, and only some datasets need it

    if len(items) < 2:
        return list(items), []
    try:
        rest, taken = train_test_split(list(items), test_size=share, random_state=seed, stratify=by)
    except ValueError as error:
        raise BadFile(f"a part of {share:.0%} cannot be taken out of {len(items)} rows: {error}") from error
    return list(rest), list(taken)


def with_dev(train: Sequence[Example], share: float = SHARE, seed: int = SEED) -> tuple[Part, Part]:
    """Train and dev, taken out of the training rows."""
    rest, taken = parted(train, share, seed)
    return tuple(rest), tuple(taken)


def answerable(part: Sequence[Example], labels: Sequence[str]) -> Part:
    """The rows whose answer a model can give."""
    known = set(labels)
    return tuple(example for example in part if example.label in known)


def unanswerable(split: Split, rows: int) -> Split:
    """With a note of the rows that `answerable` left out, of so many."""
    left_out = rows - sum(len(part) for part in (split.train, split.dev, split.test))
    note = f"{left_out} rows are left out: their answer is none that a model can give."
    return replace(split, notes=(*split.notes, note)) if left_out else split


def tabled(name: str, path: PathLike, labels: tuple[str, str], notes: tuple[str, ...] = ()) -> Split:
    """A dataset from the authors' own table; without dev rows, dev is taken out of train."""
    parts = _rows(path, labels)
    train, dev, test = (tuple(parts[part]) for part in _PARTS)
    if not train or not test:
        raise BadFile(f"{path} must have rows whose exp_split is train and rows whose exp_split is test.")
    if not dev:
        train, dev = with_dev(train)
        notes = (*notes, f"The table has no dev rows: {SHARE:.0%} of train are dev, seed {SEED}.")
    return Split(name, train, dev, test, labels, notes=notes)


def _rows(path: PathLike, labels: tuple[str, str]) -> Mapping[str, list[Example]]:
    parts: dict[str, list[Example]] = {part: [] for part in _PARTS}
    for row in table(path):
        part, label = row.string("exp_split"), row.string("label")
        if part not in parts or label not in ("0", "1"):
            row.place.refuse(f"exp_split must be train, dev or test and label 0 or 1, not {part!r} and {label!r}")
        parts[part].append(Example(str(row.place.number), (plain(row.string("text")),), labels[int(label)]))
    return parts
