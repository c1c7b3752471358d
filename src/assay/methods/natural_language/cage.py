"""CAGE: a sentence that gives reasons for a prediction, by a language model that is told the prediction.

    rationalise   "{input} The choices are a, b, or c. The answer is {label} because"  -> the rationale
    reason        "{input} The choices are a, b, or c. My commonsense tells me"        -> the same without the label

Rajani, McCann, Xiong and Socher (2019), Explain Yourself!, arXiv:1906.02361, with the prompts of their released code;
section 10.1 of the survey. The labels of any classifier are the choices, under other names where `choices` gives them
(for CommonsenseQA its five answers). Fields of a pair are named and stand on lines of their own. Of `n` sampled
sentences the likeliest by mean log-probability of its tokens comes first; one sentence is the greedy one, or the best
of a beam search. The same is written for the likeliest other labels: a writer argues for any label it is given.
We take a smaller writer (SmolLM2 with an adapter trained on e-SNLI) where they trained GPT on CoS-E.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from assay.errors import BadInput
from assay.explanations.case import Case
from assay.explanations.rationale import Rationale, Reason
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.facts import ModelFacts
from assay.questions.generation import Generate, Generated, Prompt, Sampling
from assay.questions.predict import Predict
from assay.registry.cards import method
from assay.registry.survey import Row, Uses
from assay.text.text import Text

Way: TypeAlias = Literal["rationalise", "reason"]


@method(
    title="CAGE",
    row=Row.NATURAL_LANGUAGE,
    uses=Uses.BLACK_BOX,
    section="10.1",
    marks="MD",
    paper="arXiv:1906.02361",
    needs=(Predict,),
    returns=Rationale,
)
@dataclass(frozen=True, kw_only=True)
class Cage:
    """Reasons for the explained label and for others, by any causal language model or encoder-decoder."""

    model: str = "writer:explainer"
    way: Way = "rationalise"
    n: int = 1
    temperature: float = 0.7
    top_p: float = 0.9
    beams: int = 1
    max_tokens: int = 48
    others: int = 2
    choices: tuple[str, ...] = ()
    chat: bool = False

    def __post_init__(self) -> None:
        if self.n < 1 or self.others < 0 or self.max_tokens < 1:
            raise BadInput("cage writes at least one token of one rationale, for no other label or more.")
        if not all(choice.strip() for choice in self.choices):
            raise BadInput(f"a choice without words is none: {self.choices}.")
        self._sampling()

    def explain(self, case: Case) -> Conversation[Rationale]:
        names = yield from self._names(case.text)
        chances = (yield Predict(case.text)).probabilities[0]
        likely = [int(i) for i in np.argsort(-chances, kind="stable") if i != case.target]
        asked = [case.target, *(likely[: self.others] if self.way == "rationalise" else ())]
        prompts = [self.prompt(case.text, names, i) for i in asked]
        written = yield Each(self._texts(prompt, case.seed) for prompt in prompts)
        own, *rest = [list(map(Reason.of, texts)) for texts in written]
        return Rationale(
            case,
            own[0],
            tuple(own[1:]),
            {i: reasons[0] for i, reasons in zip(asked[1:], rest, strict=True)},
            dict(zip(asked, prompts, strict=True)),
            facts={"mean_log_p": _rounded(own[0])},
            warnings=tuple(self._warnings(written[0][0])),
        )

    def prompt(self, text: Text, names: Sequence[str], label: int) -> Prompt:
        """The published prompt for a text and a label."""
        *most, last = names
        choices = f"{', '.join(most)}, or {last}" if len(most) > 1 else " or ".join(names)
        begun = "My commonsense tells me" if self.way == "reason" else f"The answer is {names[label]} because"
        asked = f"{_input(text)}The choices are {choices}."
        return Prompt(asked, begun, chat=True) if self.chat else Prompt(f"{asked} {begun}")

    def _names(self, text: Text) -> Conversation[tuple[str, ...]]:
        """What the labels are called in the prompt."""
        if any(field.part == "note" for field in text.fields):
            raise BadInput("cage gives reasons for one of several labels, and this model answers freely.")
        labels = (yield ModelFacts()).labels
        if self.choices and len(self.choices) != len(labels):
            raise BadInput(f"{len(self.choices)} choices are given, and the model has {len(labels)} labels: {labels}.")
        names = self.choices or tuple(label.replace("_", " ") for label in labels)
        if not all(name.strip() for name in names):
            raise BadInput(f"one of the labels {labels} has no words to argue for; give cage choices=...")
        return names

    def _texts(self, prompt: Prompt, seed: int) -> Conversation[list[Generated]]:
        """What is written after a prompt, the likeliest first, nothing twice."""
        found = yield Generate(
            prompt,
            n=self.n,
            seed=seed,
            stop=("\n",),
            max_tokens=self.max_tokens,
            sampling=self._sampling(),
            model=self.model,
        )
        different = {one.text.strip(): one for one in found}
        return sorted(different.values(), key=lambda one: -Reason.of(one).mean)

    def _sampling(self) -> Sampling:
        if self.beams != 1 or self.n == 1:
            return Sampling(beams=self.beams)
        return Sampling(self.temperature, self.top_p)

    def _warnings(self, written: Generated) -> Iterator[str]:
        told = "the text and the choices alone" if self.way == "reason" else "the answer"
        yield f"{self.model} was given {told}, and knows nothing else of the model"
        if not written.text.strip():
            yield f"{self.model} had nothing to say"
        elif written.ended == "length":
            yield f"{self.model} was stopped after {written.written} tokens, so the sentence may not be whole"


def _input(text: Text) -> str:
    """The fields of a text, as the prompt has them."""
    fields = [(field.name, field.string) for field in text.fields if field.part == "own"]
    parts = [field.string for field in text.fields if field.part != "own"]
    if parts:  # one word of a text is tagged
        fields += [("text", "".join(parts)), ("word", parts[1])]
    if len(fields) == 1:
        return f"{fields[0][1]} "
    return "".join(f"{name}: {string}\n" for name, string in fields)


def _rounded(reason: Reason) -> float:
    """The mean log-probability of a token, as a fact; of nothing it is nothing."""
    return round(reason.mean, 3) if reason.likelihoods else 0.0
