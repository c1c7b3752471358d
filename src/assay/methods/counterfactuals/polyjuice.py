"""Polyjuice: fluent versions of a text, edited as control codes say, to which the model says something else.

    It is great for kids   negation: It is [BLANK] great for [BLANK]   ->   not | children        x' ~ q(x' | x, code)

Wu, Ribeiro, Heer and Weld (2021), Polyjuice: Generating Counterfactuals for Explaining, Evaluating, and Improving
Models, arXiv:2101.00288; survey section 9.1, eq. 16. The editor q writes without regard to the model: blanks are put at
random (blank_places), fills are sampled for each code (coded_fills). What is written is kept where

- the code that was asked for is found again in it (text/control_codes.py; parts of speech by the `tagger`),
- neither its log-probability by `judge`, a causal language model, nor that of the part that changed is more than `drop`
  below what it was (10, as in the released code; its documentation says 5),
- the model says something else, or the label to explain `against`.

`select` is how the `versions` to return are chosen (choosing.py). "surprising", for an explanation: first the flips
that the importance of the words (`importance`, any method that returns TokenScores; SHAP in the paper) does not
foretell. "diverse", for new data: far from each other. "label": the most certain of the label to explain `against`.

The editor is `writer:editor`, or a directory: of a Polyjuice checkpoint with grammar="polyjuice", the published prompt.
Where we depart: words are aligned and tagged where they compare parses; "delete" and "shuffle" are made by rule; of the
versions that do not flip none is returned, where they also show those that should flip by SHAP and do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.edits import Edits
from assay.explanations.flips import Goal, goal_of
from assay.explanations.reading import Explains
from assay.explanations.rewritten import Rewritten
from assay.explanations.token_scores import TokenScores
from assay.methods.counterfactuals.choosing import most_diverse, most_surprising
from assay.methods.counterfactuals.coded_fills import Coded, CodedEditor, with_requested_codes
from assay.questions.base import Conversation, Question
from assay.questions.facts import KnownFacts, ModelFacts
from assay.questions.generation import Generate, Likelihood, Sampling
from assay.questions.predict import Predict
from assay.questions.replacements import VocabularyWords
from assay.registry.cards import method
from assay.registry.nested import nested_method
from assay.registry.protocols import HasNeeds
from assay.registry.survey import Row, Uses
from assay.text.blank_places import FILLED
from assay.text.coded_blanks import Grammar, changed_stretches, one_line
from assay.text.control_codes import CODES
from assay.text.text import Text

_RANDOM_WORDS = 64
_NEAREST = 4  # versions that do not flip, of which the nearest attempt is the best that is fluent
_BEFORE = "\n"  # what stands before a text whose likelihood is asked, so that its first word has one


@method(
    title="Polyjuice",
    row=Row.COUNTERFACTUALS,
    uses=Uses.BLACK_BOX,
    paper="arXiv:2101.00288",
    section="9.1",
    marks="MD",
    needs=(Predict,),
    returns=Edits,
)
@dataclass(frozen=True, kw_only=True)
class Polyjuice:
    """Versions of a text by kinds of edits, of which those are returned that change what the model says."""

    editor: str = "writer:editor"
    grammar: Grammar = "own"
    codes: tuple[str, ...] = CODES
    variants: int = 3
    samples: int = 4
    temperature: float = 1.0
    top_p: float = 0.95
    window: int = 60
    tagger: str | None = "tagger"
    judge: str | None = "writer"
    drop: float = 10.0
    select: Literal["surprising", "diverse", "label"] = "surprising"
    importance: str | Explains[TokenScores] = "kernel_shap:samples=128,exact_up_to=7"
    versions: int = 5
    field: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "importance", nested_method(self.importance, TokenScores)[1])
        if unknown := sorted(set(self.codes) - set(CODES)):
            raise BadInput(f"polyjuice knows no code {unknown[0]!r}; there are {', '.join(CODES)}.")
        if not self.codes or min(self.variants, self.samples, self.versions) < 1 or self.window < 8 or self.drop < 0:
            raise BadInput(
                "polyjuice needs a code, variants, samples and versions >= 1, drop >= 0, and a window of 8 words."
            )
        if self.temperature <= 0:
            raise BadInput("polyjuice samples its fills: a temperature above 0.")
        Sampling(self.temperature, self.top_p)

    @property
    def needs(self) -> tuple[type[Question], ...]:
        """What the model is asked: to predict, and what the importance of words takes."""
        card, made = nested_method(self.importance, TokenScores)
        needs = made.needs if isinstance(made, HasNeeds) else card.needs
        return (Predict, *(q for q in needs if q is not Predict)) if self.select == "surprising" else (Predict,)

    @property
    def otherwise(self) -> str:
        return "Choose another method by `importance`, or another way to `select`."

    def explain(self, case: Case) -> Conversation[Edits]:
        goal = yield from goal_of(case, self.field, "polyjuice")
        if self.select == "label" and goal.wanted is None:
            raise BadInput("select=label takes the versions with one label: name it by `against`.")
        yield from self._require_writer()
        (field,) = goal.text.explained
        made = yield from self._editor(case.seed).candidates(goal.text, self.codes, goal.case.generator())
        coded = yield from with_requested_codes(made.found, field.string, self.tagger)
        tried = yield from _tried(coded)
        flipped, others = ([v for v in tried if goal.reached(v) == reached] for reached in (True, False))
        fluent = yield from self._fluent(field.string, flipped)
        kept = yield from self._selected(goal, fluent)
        near = [] if kept else sorted(others, key=goal.left)[:_NEAREST]
        nearest = yield from self._fluent(field.string, near)
        words = yield from self._random_words(case.seed)
        counts = {
            "written": made.written,
            "malformed": made.malformed,
            "candidates": len(made.found),
            "other_code": len(made.found) - len(coded),
            "flipping": len(flipped),
            "unlikely": len(flipped) - len(fluent),
        }
        whole = Rewritten(goal.text, field.string, goal.whole.chances)
        return goal.edits(kept, min(nearest, key=goal.left, default=whole), words, editor=self.editor, counts=counts)

    def _editor(self, seed: int) -> CodedEditor:
        sampling = Sampling(self.temperature, self.top_p)
        return CodedEditor(self.editor, self.grammar, self.samples, self.variants, sampling, self.window, seed)

    def _require_writer(self) -> Conversation[None]:
        if FILLED.keys().isdisjoint(self.codes):  # rules are enough
            return
        facts: KnownFacts = yield ModelFacts().sent_to(self.editor)
        if Generate not in facts.answers:
            raise BadInput(f"{self.editor} is no editor for polyjuice: it is no causal language model, which writes.")

    def _random_words(self, seed: int) -> Conversation[Sequence[str]]:
        """Words of the model's vocabulary; of the editor's, where the model shows none."""
        facts: KnownFacts = yield ModelFacts()
        words: Sequence[str] = yield (
            VocabularyWords(_RANDOM_WORDS, seed)
            if VocabularyWords in facts.answers
            else VocabularyWords(_RANDOM_WORDS, seed).sent_to(self.editor)
        )
        return words

    def _selected(self, goal: Goal, versions: Sequence[Coded]) -> Conversation[list[Coded]]:
        if self.select == "diverse":
            return most_diverse(goal, versions, self.versions)
        if self.select == "label" or not versions:
            return sorted(versions, key=lambda v: (goal.left(v), v.size))[: self.versions]
        _, made = nested_method(self.importance, TokenScores)
        scores = yield from made.explain(replace(goal.case, text=goal.text, scalar="probability", against=None))
        return most_surprising(goal, versions, scores.scores)[: self.versions]

    def _fluent(self, string: str, versions: Sequence[Coded]) -> Conversation[list[Coded]]:
        """Those that are not much less likely than the text, neither as a whole nor in what changed."""
        if self.judge is None or not versions:
            return list(versions)
        whole, beside = Text.of(string), (self.window, 1)  # of a long text no more is read than around the change
        pairs = [changed_stretches(whole, Text.of(v.string), words) for words in beside for v in versions]
        asked = list(dict.fromkeys(one_line(side) for pair in pairs for side in pair))
        found = yield Likelihood(_BEFORE, *asked, model=self.judge)
        likely = {one: known.total for one, known in zip(asked, found, strict=True)}
        falls = [likely[one_line(old)] - likely[one_line(new)] for old, new in pairs]
        both = zip(versions, falls[: len(versions)], falls[len(versions) :], strict=True)
        return [version for version, of_whole, of_part in both if max(of_whole, of_part) <= self.drop]


def _tried(versions: Sequence[Coded]) -> Conversation[list[Coded]]:
    """What the model says to each version; of equal ones, which differ in their code, the first is taken."""
    versions = list({version.string: version for version in reversed(versions)}.values())[::-1]
    if not versions:
        return []
    answers = yield Predict(*(version.text for version in versions))
    return [version.with_chances(row) for version, row in zip(versions, answers.probabilities, strict=True)]
