"""MiCE: the least change of a text, in words that a language model finds likely, after which it gets another label.

    min |changed words|   such that   argmax f(x') = c,   x' = x with its most important words filled in anew

Ross, Marasovic and Peters (2021), Explaining NLP Models via Minimal Contrastive Editing, arXiv:2012.13985; survey
section 9.2. The words to replace are those with the largest gradient of the predicted label's logit (L1 over the
embedding). How many of them must go is searched (see minimal_search). `c` is the label to explain `against`, by default
the second likeliest. The editor is one of two kinds:

- a language model that writes fills of any length toward a label, as MiCE's T5 does (written_fills): `writer:editor`
  for film reviews, pairs and news with the labels of the bundled models, or a directory that `assay train-editor` made
  for labels of your own;
- a masked language model, which knows no labels (masked_fills): each word is replaced by one word, and the label comes
  in by the choice among likely words, a beam ranked by log f_c + `fluency` x log p(words put in).

With mask="random" the words to replace are chosen by chance, as they do to see what the gradient adds.

"auto" takes `writer:editor` where it is installed and knows the labels, else the bundled masked language model.

Where we depart: a word that can go back without losing the flip does, which MiCE does not try. So all versions returned
get the label, smallest first, and of equally small ones the most fluent first.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from assay.errors import BadInput, ModelNotLoaded
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.explanations.flips import Goal, goal_of
from assay.methods.counterfactuals.masked_fills import MaskedSearch
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
        editor, writes = yield from self._editor(labels)
        order = yield from self._word_order(goal)(goal.text)
        if writes:
            return (yield from self._by_writing(goal, order, editor, labels))
        search = MaskedSearch(self, goal, order, editor, self.top)
        yield from search.run()
        words = yield VocabularyWords(_RANDOM_WORDS, case.seed).sent_to(editor)
        nearest = min(search.unflipped, key=goal.left)
        return goal.edits((yield from search.best()), nearest, words, path=search.path, editor=editor)

    def _word_order(self, goal: Goal) -> WordOrder:
        return WordOrder(self.mask, goal.target, goal.case.seed)

    def _by_writing(self, goal: Goal, order: list[int], editor: str, labels: tuple[str, ...]) -> Conversation[Edits]:
        assert goal.wanted is not None
        label = spoken(labels[goal.wanted])
        label = label.lower() if editor == _WRITER else label
        writing = HowToWrite(editor, label, self.samples, self.temperature, self.top_p, self.window, goal.case.seed)
        search = WrittenSearch(self, goal, self._word_order(goal), order, writing)
        yield from search.run()
        words = yield VocabularyWords(_RANDOM_WORDS, goal.case.seed)
        nearest = min(search.unflipped, key=goal.left)
        fills = {"written": search.written, "malformed": search.malformed}
        best = yield from search.best()
        return goal.edits(best, nearest, words, path=search.path, editor=editor, fills=fills)

    def _editor(self, labels: tuple[str, ...]) -> Conversation[tuple[str, bool]]:
        """The name of the editor, and whether it writes."""
        if self.editor != _AUTO:
            facts: KnownFacts = yield ModelFacts().sent_to(self.editor)
            if not {Generate, Fill} & set(facts.answers):
                raise BadInput(f"{self.editor} is no editor: it is neither a causal nor a masked language model.")
            return self.editor, Generate in facts.answers
        if {spoken(label).lower() for label in labels} in _WRITER_LABELS:
            try:
                yield ModelFacts().sent_to(_WRITER)
            except ModelNotLoaded:  # its base, or the adapter, is not installed
                return _MASKED, False
            return _WRITER, True
        return _MASKED, False


def spoken(label: str) -> str:
    """A label as it stands in a prompt."""
    return label.replace("_", " ")


def _second(goal: Goal) -> int:
    """The likeliest label but the predicted one."""
    order = np.argsort(-np.array(goal.whole.chances), kind="stable").tolist()
    return int(next(label for label in order if label != goal.target))
