"""MiCE: the least change of a text, in words that a language model finds likely, after which it gets another label.

    min |changed words|   such that   argmax f(x') = c,   x' = x with its most important words filled in anew

Ross, Marasovic and Peters (2021), Explaining NLP Models via Minimal Contrastive Editing, arXiv:2012.13985; survey
section 9.2. The words to replace are those with the largest gradient of the predicted label's logit (L1 over the
embedding). How many of them must go is searched (see minimal_search). `c` is the label to explain `against`, by default
the second likeliest. The editor is one of these:

- a language model that writes fills of any length toward a label, as MiCE's T5 does (written_fills): `writer:editor`
  for film reviews, pairs and news with the labels of the bundled models, or a directory that `assay train-editor` made
  for labels of your own;
- a masked language model, which knows no labels (masked_fills): each word is replaced by one word, and the label comes
  in by the choice among likely words, a beam ranked by log f_c + `fluency` x log p(words put in): `mlm`, or another;
- both, `mlm+WRITER` (mixed_fills): the masked search, for up to 12 words, finds how few are enough; the writer is then
  asked once for as many and for a few more, or searches where the masked model found nothing. The smallest versions of
  the two are returned, the most fluent first.

"auto" takes `mlm+writer:editor` where the writer is installed and knows the labels, else `mlm`.

With mask="random" the words to replace are chosen by chance, as they do to see what the gradient adds.

Where we depart: a word that can go back without losing the flip does, which MiCE does not try. So all versions returned
get the label, smallest first, and of equally small ones the most fluent first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from assay.errors import BadInput, ModelNotLoaded
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.explanations.flips import Goal, goal_of
from assay.methods.counterfactuals.masked_fills import MaskedSearch
from assay.methods.counterfactuals.mixed_fills import MOST_HOLES, MixedSearch
from assay.methods.counterfactuals.word_order import Mask, WordOrder
from assay.methods.counterfactuals.written_fills import HowToWrite, WrittenSearch
from assay.questions.base import Conversation
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.fill import Fill
from assay.questions.generation import Generate, Sampling
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict
from assay.questions.replacements import VocabularyWords
from assay.registry.cards import method
from assay.registry.survey import Row, Uses

_RANDOM_WORDS = 64
_AUTO, _WRITER, _MASKED = "auto", "writer:editor", "mlm"
_BOTH = f"{_MASKED}+"  # and the name of a writer
_WRITER_LABELS = (  # those that writer:editor was trained for: film reviews, pairs, news
    frozenset({"negative", "positive"}),
    frozenset({"entailment", "neutral", "contradiction"}),
    frozenset({"world", "sports", "business", "sci/tech"}),
)


@method(
    title="MiCE",
    row=Row.COUNTERFACTUALS,
    uses=Uses.GRADIENT,
    paper="arXiv:2012.13985",
    section="9.2",
    marks="M",
    needs=(InputGradient, Predict),
    returns=Edits,
)
@dataclass(frozen=True, kw_only=True)
class Mice:
    """The smallest fluent edits of a text that give it the contrast label."""

    editor: str = _AUTO
    share: float = 0.55
    levels: int = 4
    rounds: int = 3
    beam: int = 3
    top: int = 30
    samples: int = 12
    temperature: float = 0.9
    top_p: float = 0.95
    window: int = 60
    mask: Mask = "gradient"
    fluency: float = 0.2
    versions: int = 3
    field: str | None = None

    def __post_init__(self) -> None:
        whole = min(self.levels, self.rounds, self.beam, self.top, self.samples, self.versions)
        if whole < 1 or not 0 < self.share <= 1 or self.fluency < 0:
            raise BadInput(
                "mice needs levels, rounds, beam, top, samples and versions >= 1, share above 0 and at most 1, "
                "fluency >= 0."
            )
        if self.temperature <= 0 or self.window < 8:
            raise BadInput("mice samples its fills: a temperature above 0; and a window has 8 words or more.")
        Sampling(self.temperature, self.top_p)

    def explain(self, case: Case) -> Conversation[Edits]:
        goal = yield from goal_of(case, self.field, "mice")
        goal = goal if goal.wanted is not None else replace(goal, wanted=_second(goal))
        labels = (yield ModelFacts()).labels
        masked, writer = yield from self._editors(labels)
        order = yield from self._word_order(goal)(goal.text)
        if masked is not None and writer is not None:
            share = min(self.share, MOST_HOLES / max(1, len(goal.text)))
            quick = MaskedSearch(replace(self, share=share, rounds=1), goal, order, masked, self.top)
            return (yield from self._by_both(MixedSearch(quick, self._written(goal, order, writer, labels))))
        if masked is not None:
            return (yield from self._by_masks(MaskedSearch(self, goal, order, masked, self.top)))
        assert writer is not None
        return (yield from self._by_writing(self._written(goal, order, writer, labels)))

    def _by_masks(self, search: MaskedSearch) -> Conversation[Edits]:
        yield from search.run()
        words = yield from self._random_words(search.goal, search.editor)
        nearest = min(search.unflipped, key=search.goal.left)
        best = yield from search.best()
        return search.goal.edits(best, nearest, words, path=search.path, editor=search.editor)

    def _by_writing(self, search: WrittenSearch) -> Conversation[Edits]:
        yield from search.run()
        words = yield from self._random_words(search.goal)
        nearest = min(search.unflipped, key=search.goal.left)
        best = yield from search.best()
        editor = search.writing.editor
        return search.goal.edits(best, nearest, words, path=search.path, editor=editor, fills=search.counts)

    def _by_both(self, search: MixedSearch) -> Conversation[Edits]:
        yield from search.run()
        words = yield from self._random_words(search.goal, search.masked.editor)
        best, editors = yield from search.best()
        editor = f"{_BOTH}{search.written.writing.editor}"
        known = {"path": search.path, "editor": editor, "editors": editors, "fills": search.written.counts}
        return search.goal.edits(best, search.nearest, words, **known)

    def _random_words(self, goal: Goal, model: str | None = None) -> Conversation[list[str]]:
        question = VocabularyWords(_RANDOM_WORDS, goal.case.seed)
        words: list[str] = yield question if model is None else question.sent_to(model)
        return words

    def _word_order(self, goal: Goal) -> WordOrder:
        return WordOrder(self.mask, goal.target, goal.case.seed)

    def _written(self, goal: Goal, order: list[int], editor: str, labels: Sequence[str]) -> WrittenSearch:
        assert goal.wanted is not None
        label = spoken(labels[goal.wanted])
        label = label.lower() if editor == _WRITER else label
        writing = HowToWrite(editor, label, self.samples, self.temperature, self.top_p, self.window, goal.case.seed)
        return WrittenSearch(self, goal, self._word_order(goal), order, writing)

    def _editors(self, labels: Sequence[str]) -> Conversation[tuple[str | None, str | None]]:
        """The masked language model and the writer that fill; one of them may be missing."""
        if self.editor == _AUTO:
            return _MASKED, (yield from self._bundled_writer(labels))
        if self.editor.startswith(_BOTH):
            writer = self.editor.removeprefix(_BOTH)
            if not (yield from self._writes(writer)):
                raise BadInput(f"{writer} writes nothing: behind {_BOTH} stands a causal language model.")
            return _MASKED, writer
        writes = yield from self._writes(self.editor)
        return (None, self.editor) if writes else (self.editor, None)

    def _writes(self, editor: str) -> Conversation[bool]:
        """Whether the editor writes, or fills masks; another is none."""
        facts: KnownFacts = yield ModelFacts().sent_to(editor)
        if not {Generate, Fill} & set(facts.answers):
            raise BadInput(f"{editor} is no editor: it is neither a causal nor a masked language model.")
        return Generate in facts.answers

    def _bundled_writer(self, labels: Sequence[str]) -> Conversation[str | None]:
        """Where it is installed and was trained for these labels."""
        if {spoken(label).lower() for label in labels} not in _WRITER_LABELS:
            return None
        try:
            yield ModelFacts().sent_to(_WRITER)
        except ModelNotLoaded:  # its base, or the adapter, is not installed
            return None
        return _WRITER


def spoken(label: str) -> str:
    """A label as it stands in a prompt."""
    return label.replace("_", " ")


def _second(goal: Goal) -> int:
    """The likeliest label but the predicted one."""
    order = np.argsort(-np.array(goal.whole.chances), kind="stable").tolist()
    return int(next(label for label in order if label != goal.target))
