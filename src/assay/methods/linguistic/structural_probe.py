"""Structural probe: what a small classifier reads off each layer, and what that says about the layer.

    score_l = share of held-out items that a probe of h_l answers rightly
    z_i = gamma sum_l softmax(w)_l h_(l,i)                     one probe of all layers; the softmax says which count

Survey, section 14.2, eq. 23 (Tenney, Das and Pavlick, 2019, arXiv:1905.05950); tasks in `probe_tasks`.
A probe may learn a task that the layer knows nothing of, so beside each score stand what it gets on a control task
(Hewitt and Liang, 2019) and how many bits the labels take with its help (Voita and Titov, 2020). Eq. 23 counts layers
from 1; here the embedding is layer 0 and takes part. Every word is the mean of its pieces. Texts are read once: states
go to a temporary file, never whole into memory. No more than `most` words are trained on, of sentences drawn by the
seed, and a quarter of that is tested on: those of the file `test`, or a fifth of the sentences. A probe is trained for
`epochs`, or for `steps` batches where those are more. The tasks tree_depth and tree_distance are those of Hewitt and
Manning (2019): a linear map of `rank` directions under which depths and distances in the tree are squared lengths.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from assay.data.treebanks import Sentence, sentences
from assay.errors import BadInput
from assay.explanations.probe_scores import ProbeScores
from assay.explanations.sample_explanation import SampleId
from assay.methods.linguistic.layer_probes import LayerProbes
from assay.methods.linguistic.probe_tasks import TREES, ProbeItem, ProbeItems, Task, items
from assay.methods.linguistic.tree_scores import TreeProbes
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.inside import Hidden
from assay.questions.randomness import Randomness
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.storage.state_file import Block, StateFile
from assay.text.sample import Sample
from assay.text.text import Text

_TESTED = 0.2  # of the sentences, where no file of their own is given


@method(
    title="Structural probe",
    row=Row.LINGUISTIC,
    uses=Uses.EMBEDDINGS,
    paper="arXiv:1905.05950",
    section="14.2",
    marks="D",
    needs=(Hidden,),
    returns=ProbeScores,
    alone=True,
)
@dataclass(frozen=True, kw_only=True)
class StructuralProbe:
    """How well a task can be read off each layer."""

    task: Task = "label"
    corpus: str | None = None
    test: str | None = None
    probe: Literal["linear", "mlp"] = "linear"
    code: Literal["online", "variational"] = "online"
    most: int = 200_000
    epochs: float = 3.0
    steps: int = 200
    rank: int = 32

    def __post_init__(self) -> None:
        if self.most < 20 or self.epochs <= 0 or self.steps < 1 or self.rank < 1:
            given = f"{self.most}, {self.epochs}, {self.steps} and {self.rank}"
            raise BadInput(f"structural_probe needs most >= 20, epochs > 0, steps >= 1 and rank >= 1, not {given}.")
        if (self.corpus is None) != (self.task == "label"):
            raise BadInput("task=label reads the labels of a sample; every other task needs a file: corpus=FILE.")

    def describe(self, sample: Sample) -> Conversation[ProbeScores]:
        rng: np.random.Generator = yield Randomness(sample)
        if self.task == "label" and not sample:
            raise BadInput("task=label reads the labels of a sample; give one (--file F --label-column C).")
        read = _Labelled.of(sample, self.most, rng) if self.task == "label" else self._treebank(rng)
        states = yield from read.states()
        if self.task in TREES:
            trees = TreeProbes.of(states, read.sentences, read.trained, self.task)
            return trees.scores(SampleId.of(sample), self.rank, self.epochs, self.steps, int(rng.integers(2**31)))
        settings = {"kind": self.probe, "epochs": self.epochs, "steps": self.steps, "seed": int(rng.integers(2**31))}
        probes, typed = LayerProbes.of(states, read.units, read.items, read.trained), read.typed
        del read  # the sentences
        return probes.scores(SampleId.of(sample), self.task, self.code, settings, typed=typed)

    def _treebank(self, rng: np.random.Generator) -> _Read:
        """The sentences that are trained on and tested on, and their items."""
        assert self.corpus is not None
        train = _drawn(self.corpus, self.most if self.test else round(self.most / (1 - _TESTED)), rng)
        if self.test is None:
            cut = max(1, round(_TESTED * len(train)))
            train, test = _within(train[cut:], self.most), train[:cut]
        else:
            test = _drawn(self.test, max(20, self.most // 4), rng)
        if not train or not test:
            raise BadInput(f"{self.corpus} has too few sentences to train a probe and to test it.")
        return _Read(train, test, self.task, rng)


def _drawn(path: str, most: int, rng: np.random.Generator) -> list[Sentence]:
    """Sentences in a random order, no more than so many words: of the others only the length is ever held."""
    lengths = np.fromiter((len(sentence) for sentence in sentences(path)), np.int64)
    order = rng.permutation(len(lengths))
    kept = order[: max(1, int(np.searchsorted(np.cumsum(lengths[order]), most, side="right")))]
    place = {int(i): k for k, i in enumerate(kept)}
    found = {place[i]: sentence for i, sentence in enumerate(sentences(path)) if i in place}
    return [found[k] for k in range(len(found))]


def _within(found: list[Sentence], most: int) -> list[Sentence]:
    """The first sentences, with no more than so many words together."""
    kept = int(np.searchsorted(np.cumsum([len(sentence) for sentence in found]), most, side="right"))
    return found[: max(1, kept)]


class _Read:
    """Sentences to train on and to test on, with their items; the states of all words lie in one file."""

    def __init__(self, train: list[Sentence], test: list[Sentence], task: Task, rng: np.random.Generator) -> None:
        self.sentences, self.trained = [*train, *test], len(train)
        self.items = ProbeItems.of(items(sentence, task, rng) for sentence in self.sentences)
        self.typed = True  # whether items have types that control labels can be drawn for

    @property
    def units(self) -> list[int]:
        """How many vectors each sentence has."""
        return [len(sentence) for sentence in self.sentences]

    def states(self) -> Conversation[StateFile]:
        """All words of all sentences, one sentence after the other."""
        asked = (_asked(sentence.text, "words") for sentence in self.sentences)
        found: StateFile = yield Each(asked, fold=StateFile.add, start=StateFile(sum(self.units)))
        return found


class _Labelled(_Read):
    """Texts of a sample, each one item with the label of the text."""

    def __init__(self, texts: list[tuple[Any, str]], trained: int) -> None:
        self.texts, self.trained, self.sentences = texts, trained, []
        self.items = ProbeItems.of([ProbeItem((0,), label, "")] for _, label in texts)
        self.typed = False

    @classmethod
    def of(cls, sample: Sample, most: int, rng: np.random.Generator) -> _Labelled:
        rows = [(row.text, row.label) for row in sample.require_labels().subsample(most, int(rng.integers(2**31)))]
        if len(rows) < 5:
            raise BadInput(f"a probe needs at least 5 labelled texts; {sample.name} has {len(rows)}.")
        order, cut = rng.permutation(len(rows)), max(1, round(_TESTED * len(rows)))
        return cls([(rows[i][0], str(rows[i][1])) for i in [*order[cut:], *order[:cut]]], len(rows) - cut)

    @property
    def units(self) -> list[int]:
        return [1] * len(self.texts)

    def states(self) -> Conversation[StateFile]:
        asked = (_asked(Text.of(text).require_words(), "text") for text, _ in self.texts)
        found: StateFile = yield Each(asked, fold=StateFile.add, start=StateFile(len(self.texts)))
        return found


def _asked(text: Text, pool: Literal["words", "text"]) -> Conversation[Block]:
    found: Block = yield Hidden(text, pool=pool)
    return found
