"""Universal triggers: a few words which, put before or behind any text of a class, make the model give another label.

    t_i <- argmin over words v of  e_v . mean over texts x of dF(t; x)/de_i        F the log-odds of the class

Wallace, Feng, Kandpal, Gardner and Singh (2019), Universal Adversarial Triggers for Attacking and Analyzing NLP,
arXiv:1908.07125, eq. 2; the search over words of HotFlip (survey, section 7.1). From "the the the" on, place by place,
the best `candidates` by the averaged gradient are tried by real forward passes; the `beam` of them that lower F most
go on, for `rounds` passes over all places or until nothing changes. With `into`, F of that label is raised instead.

Where we depart: the trigger is searched on one half of the texts of the class (`search` of them at most), and reported
on the other half (the released code reports on the texts it searched), beside random triggers of as many words. Texts
of the class are those of that label where the sample has labels, else those that the model gives it.

Two searches stand beside each other. The plain one takes only words of letters, without capitals, and neither label
names, nor words that texts of other labels in the sample have at least twice as often as those of the class, nor those
of the file `exclude` (a lexicon of sentiment, as in the paper): words that should change the label show nothing. The
unconstrained one takes any whole word of the vocabulary. Of a pair, the trigger goes to the last text (the
hypothesis), or to `field`. A text that fills the model's window loses its end, and a suffix with it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from assay.data.files import lines
from assay.errors import AssayError, BadInput, UnknownName
from assay.explanations.flips import flips, in_one_field
from assay.explanations.sample_explanation import SampleId
from assay.explanations.triggers import Trigger, Triggers, TurnedText
from assay.methods.adversarial.trigger_search import Place, TriggerSearch, Words, with_trigger
from assay.questions.answers import Predictions
from assay.questions.base import Aim, Conversation
from assay.questions.cases import Cases
from assay.questions.each import Each
from assay.questions.embeddings import Embeddings, WordVectors
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.gradients import GradientVectors
from assay.questions.predict import Predict
from assay.questions.randomness import Randomness
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.statistics.exact import Share
from assay.statistics.intervals import difference, mean_over_seeds
from assay.text.example import Example
from assay.text.field import Masks
from assay.text.sample import Sample
from assay.text.text import Text

_START = "the"
_EXAMPLES = 5
_OFTENER = 2.0  # a word of another class stands in its texts at least so many times as often
_FEW = 20


@dataclass(frozen=True)
class ReadRow:
    """A text, and the place of its label: the given one, or what the model predicts."""

    text: Text
    label: int


@dataclass(frozen=True)
class Unseen:
    """The texts that a trigger is reported on, and the goal."""

    texts: tuple[Text, ...]
    turned: int
    wanted: int | None
    place: Place

    def without(self) -> Conversation[tuple[Masks, list[int]]]:
        return self._flipped((yield Predict(*self.texts)))

    def under(self, trigger: Words) -> Conversation[tuple[Masks, list[int]]]:
        """Which texts have another label with the trigger, and which label each has."""
        return self._flipped((yield Predict(*(with_trigger(text, trigger, self.place) for text in self.texts))))

    def _flipped(self, answers: Predictions) -> tuple[Masks, list[int]]:
        reached = flips(answers.probabilities, self.turned, self.wanted, answers.multi_label)
        return reached, answers.argmax().tolist()


@method(
    title="Universal triggers",
    row=Row.ADVERSARIAL,
    uses=Uses.GRADIENT,
    paper="arXiv:1908.07125",
    needs=(Predict, GradientVectors, Embeddings),
    returns=Triggers,
)
@dataclass(frozen=True, kw_only=True)
class UniversalTriggers:
    """A few words that turn the texts of a class to another label, wherever they are put."""

    turns: str | None = None
    into: str | None = None
    length: int = 3
    place: Place = "prefix"
    search: int = 32
    beam: int = 2
    candidates: int = 15
    rounds: int = 2
    random: int = 10
    unconstrained: bool = True
    exclude: str | None = None
    field: str | None = None

    def __post_init__(self) -> None:
        if min(self.length, self.search, self.beam, self.candidates, self.rounds) < 1 or self.random < 2:
            raise BadInput(
                "universal_triggers needs length, search, beam, candidates and rounds of 1 or more, and random of 2 "
                "or more."
            )

    def describe(self, sample: Sample) -> Conversation[Triggers]:
        facts: KnownFacts = yield ModelFacts()
        rows: list[ReadRow] = yield Each(self._read(row, sample, facts.labels) for row in sample)
        turned, wanted = self._goal(rows, facts.labels)
        texts = [row.text for row in rows if row.label == turned]
        if len(texts) < 2:
            raise BadInput(
                f"{sample.name} has {len(texts)} text(s) of the label {facts.labels[turned]!r}; universal_triggers "
                "needs two or more of them, to search on one half and to report on the other."
            )
        rng: np.random.Generator = yield Randomness(sample)
        order = rng.permutation(len(texts)).tolist()
        seen = tuple(texts[i] for i in order[: len(texts) // 2][: self.search])
        unseen = Unseen(tuple(texts[i] for i in order[len(texts) // 2 :]), turned, wanted, self.place)
        vectors: WordVectors = yield Embeddings()
        found = []
        for name, words in self._vocabularies(vectors, rows, turned, wanted, facts.labels):
            found.append((yield from self._found(name, words, seen, unseen, rng, facts.labels)))
        already, _ = yield from unseen.without()
        goal = facts.labels[turned], "" if wanted is None else facts.labels[wanted], self.place
        without = Share.exact(int(already.sum()), len(already))
        known = {"searched_on": len(seen), "reported_on": len(unseen.texts)}
        few = (f"only {len(already)} texts to report on: the shares are rough",) if len(already) < _FEW else ()
        return Triggers(SampleId.of(sample), *goal, without, tuple(found), facts=known, warnings=few)

    def _read(self, row: Example, sample: Sample, labels: Sequence[str]) -> Conversation[ReadRow]:
        try:
            (reading,) = yield Cases([row.text])
            text = in_one_field(reading.case.text, self.field).read
        except AssayError as error:
            raise type(error)(f"{sample.name}, row {row.position + 1}: {error}") from error
        if any(part.part == "note" for part in reading.case.text.fields) or len(labels) < 2:
            raise BadInput("universal_triggers turns a label of a classifier; this model does not choose among labels.")
        predicted = max(reading.prediction, key=lambda name: reading.prediction[name])
        return ReadRow(text, _place(row.label if row.label in labels else predicted, labels))

    def _goal(self, rows: Sequence[ReadRow], labels: Sequence[str]) -> tuple[int, int | None]:
        """The class to turn (that of the most texts, but not the one to reach), and the label to reach."""
        wanted = None if self.into is None else _place(self.into, labels)
        counts = Counter(row.label for row in rows if row.label != wanted)
        turned = counts.most_common(1)[0][0] if self.turns is None and counts else None
        turned = _place(self.turns, labels) if self.turns is not None else turned
        if turned is None or turned == wanted:
            raise BadInput(f"all texts have the label {labels[wanted or 0]!r} already, so none can be turned into it.")
        return turned, wanted

    def _vocabularies(
        self, vectors: WordVectors, rows: Sequence[ReadRow], turned: int, wanted: int | None, labels: Sequence[str]
    ) -> Iterator[tuple[str, WordVectors]]:
        """What each search may choose from."""
        barred = {word.lower() for label in labels for word in Text.of(label).words}
        barred |= set(_own_words(rows, turned, wanted)) | (_words_of(self.exclude) if self.exclude else set())
        yield "plain words", _some(vectors, [_is_plain(word) and word not in barred for word in vectors.words])
        if self.unconstrained:
            yield "any word", _some(vectors, [word.isprintable() for word in vectors.words])

    def _found(
        self,
        name: str,
        vocabulary: WordVectors,
        seen: tuple[Text, ...],
        unseen: Unseen,
        rng: np.random.Generator,
        labels: Sequence[str],
    ) -> Conversation[Trigger]:
        """The trigger of one search, and what it does to the texts that the search did not see."""
        if not vocabulary.words:
            raise BadInput(f"no word of the model's vocabulary may stand in a trigger of {name}.")
        aim = Aim(unseen.turned if unseen.wanted is None else unseen.wanted)
        settings = (self.place, self.beam, self.candidates, self.rounds)
        search = TriggerSearch(seen, aim, unseen.wanted is not None, *settings)
        words, path = yield from search.run((_START,) * self.length, vocabulary)
        drawn = rng.integers(len(vocabulary.words), size=(self.random, self.length)).tolist()
        random = [tuple(vocabulary.words[k] for k in row) for row in drawn]
        (own, said), *others = yield Each(unseen.under(trigger) for trigger in [words, *random])
        table = np.array([flipped for flipped, _ in others], dtype=np.float64)
        gain = difference(own.astype(np.float64), table.mean(axis=0))
        assert gain is not None  # there is a text, and a mean of shares is finite
        turned = Share.exact(int(own.sum()), len(own))
        examples = tuple(_examples(unseen, own, said, labels))
        return Trigger(name, words, turned, mean_over_seeds(table), gain, path, examples)


def _examples(unseen: Unseen, flipped: Masks, said: Sequence[int], labels: Sequence[str]) -> Iterator[TurnedText]:
    """The first few texts that the trigger turns."""
    for i in np.flatnonzero(flipped)[:_EXAMPLES].tolist():
        yield TurnedText(str(unseen.texts[i]), labels[unseen.turned], labels[said[i]])


def _place(label: str | None, labels: Sequence[str]) -> int:
    alike = [i for i, name in enumerate(labels) if name.casefold() == str(label).casefold()]
    if label in labels:
        return labels.index(label)
    if len(alike) != 1:
        raise UnknownName.of("label", label, labels)
    return alike[0]


def _is_plain(word: str) -> bool:
    return word.isalpha() and word == word.lower() and (len(word) > 1 or word in ("a", "i"))


def _own_words(rows: Sequence[ReadRow], turned: int, wanted: int | None) -> Iterator[str]:
    """Words that the texts of the other labels (of the one to reach) have far more often than those of the class."""
    groups: Mapping[bool, list[set[str]]] = {True: [], False: []}
    for row in rows:
        if row.label == turned or wanted in (None, row.label):
            groups[row.label == turned].append({word.lower() for word in row.text.words})
    own, other = (Counter(word for words in groups[mine] for word in words) for mine in (True, False))
    for word, count in other.items():
        share, share_of_own = count / len(groups[False]), own[word] / max(1, len(groups[True]))
        if count > 1 and share >= _OFTENER * share_of_own:
            yield word


def _words_of(path: str) -> set[str]:
    """A file of words, one a line."""
    return {line.strip().lower() for _, line in lines(path) if line.strip() and not line.startswith((";", "#"))}


def _some(vectors: WordVectors, chosen: Sequence[bool]) -> WordVectors:
    places = np.flatnonzero(chosen)
    words = tuple(vectors.words[i] for i in places.tolist())
    return WordVectors(words, vectors.vectors[places], (1,) * len(words), (True,) * len(words))
