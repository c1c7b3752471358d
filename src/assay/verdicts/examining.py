"""How methods are put to the checks of a trust card: which methods and checks suit a model, and one method after the
other examined on the same texts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from typing import Any

from assay.errors import BadInput, Unanswerable
from assay.explanations.about import About
from assay.explanations.token_scores import TokenScores
from assay.models import TextModel
from assay.questions.base import Conversation
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict
from assay.registry.cards import CheckCard, MethodCard
from assay.registry.finding import checks as all_checks
from assay.registry.finding import find_method, resolve_check
from assay.registry.parameters import parameters
from assay.registry.protocols import Check, Compares, Method
from assay.registry.sample_task import examines_sample
from assay.statistics.verdict import Verdict
from assay.text.variants import Symbol
from assay.verbs import PreparedRequest, explain_by
from assay.verdicts.judge import judge, unchanged
from assay.verdicts.naming import apart, with_settings
from assay.verdicts.standing import SANITY, Standing

Made = tuple[str, Mapping[str, Any]]
Settings = Mapping[str, Mapping[str, Any]]

_QUICK_LIME: Made = ("lime", {"samples": 400})
_QUICK_SHAP: Made = ("kernel_shap", {"samples": 256})
_GRADIENT: tuple[Made, ...] = (
    ("integrated_gradients", {}),
    ("leave_one_out", {}),
    _QUICK_SHAP,
    _QUICK_LIME,
    ("input_x_gradient", {}),
)
_BLACK_BOX: tuple[Made, ...] = (("leave_one_out", {}), _QUICK_SHAP, _QUICK_LIME, ("partition_shap", {}))
_SETTINGS: Settings = {
    "infidelity": {"scaled": True},
    "randomization": {"stages": 1, "seeds": (0, 1)},
    "stability": {"edits": ("punctuation",)},
}
# Of a long text every row costs twenty times as much, and its parts are few: still 4 rows a part for KernelSHAP and 5
# for LIME, which is what they ask for. A score within 3 % of the largest is enough to put sentences in order.
_LONG_METHODS: Settings = {
    "integrated_gradients": {"tolerance": 0.03},
    "lime": {"samples": 200},
    "kernel_shap": {"samples": 160},
}
_ROWS_A_WORD = {"lime": 5, "kernel_shap": 4}  # and so many inside the parts, where there are fewer words than that
_LONG_SETTINGS: Settings = {
    "infidelity": {"scaled": True, "samples": 64},
    "randomization": {"stages": 1, "seeds": (0,)},
}
LONG_NOT_ASKED = {"stability": "explains the whole text once more, which takes long here; name it to run it"}
_NOT_ASKED = {
    "adversarial_attention": "is about the model's attention, and takes long; see `assay audit-attention`",
    "attention_permutation": "is about the model's attention; see `assay audit-attention`",
    "rank_agreement": "is shown on the card, between all methods",
    "sensitivity": "asks much the same as stability and takes six times as long as the methods; name it to run it",
}
_SAMPLE = "tests methods on a whole labelled sample, not on single texts"
FEWEST, _MOST, _ROWS = 40, 100, 2000  # random maps of one text: enough for a p-value of 0.05, fewer for long texts
INSIDE = 20  # random maps that read the whole text: one in 21 is ahead of all others, as two in 41 are of the others


def default_methods(model: TextModel, *, long: bool = False) -> list[Method]:
    """A few methods of different kinds that this model can answer; they ask fewer rows of a long text."""
    usual = _GRADIENT if InputGradient in model.answers else _BLACK_BOX
    chosen = {name: _LONG_METHODS.get(name, settings) if long else settings for name, settings in usual}
    return [find_method(name).make(settings) for name, settings in chosen.items()]


def inside(card: MethodCard, method: Method, words: int) -> Method:
    """A default method of a long text as it goes into so few of its words: with as many rows as these need."""
    rows = _ROWS_A_WORD.get(card.name)
    return card.make({**parameters(method), "samples": rows * words}) if rows else method


def default_checks(model: TextModel, *, long: bool = False) -> Iterator[Check[Any]]:
    """Every check that reads word scores, that the model can answer, and that can be made without the user's help."""
    unasked = {**_NOT_ASKED, **(LONG_NOT_ASKED if long else {})}
    settings = _LONG_SETTINGS if long else _SETTINGS
    for card in all_checks().values():
        free = all(f.default is not MISSING or f.default_factory is not MISSING for f in card.parameters.values())
        fits = (
            not examines_sample(card)
            and issubclass(TokenScores, card.reads)
            and model.answers.keys() >= set(card.needs)
        )
        if free and fits and card.name not in unasked:
            yield card.make(settings.get(card.name))
        if card.name == "deletion" and (other := _other_eraser(model)):
            yield card.make({"eraser": other})


def _other_eraser(model: TextModel) -> str | None:
    """Another way than deleting to take a word away, if the model has a token for it."""
    return next((str(s) for s in (Symbol.MASK, Symbol.UNKNOWN, Symbol.PAD) if s in model.spelling), None)


@dataclass
class Examiner:
    """Puts methods to the same checks on the same texts, one method after the other.

    `around` changes every conversation of a check, `tick` is called whenever an explanation or a check is done;
    `inside` are the words of some parts of a long text.
    """

    prepared: PreparedRequest
    named: bool  # whether the user named the checks
    progress: bool | None
    long: bool = False
    inside: bool = False
    left_out: dict[str, str] = field(default_factory=dict)
    around: Callable[[Conversation[Any]], Conversation[Any]] = unchanged
    tick: Callable[[], None] = lambda: None
    checks: Sequence[tuple[CheckCard, Check[Any]]] = ()

    def __post_init__(self) -> None:
        if self.checks:
            return
        chosen = default_checks(self.prepared.engine.model, long=self.long)
        self.checks = self.prepared.checks if self.named else [resolve_check(one) for one in chosen]
        if not self.named:
            unasked = {**_NOT_ASKED, **(LONG_NOT_ASKED if self.long else {})}
            self.left_out |= {name: why for name, why in unasked.items() if name in all_checks()}
            self.left_out |= {card.name: _SAMPLE for card in all_checks().values() if examines_sample(card)}

    def explained(self, method: Method) -> Standing:
        made = explain_by(self.prepared, method, self.progress)
        self.tick()
        return self.standing(tuple(e for e in made if isinstance(e, TokenScores)))

    def standing(self, maps: tuple[TokenScores, ...]) -> Standing:
        return Standing(maps[0].about.method, maps[0].about.title, maps, tuple(self._verdicts(maps)))

    def _verdicts(self, maps: tuple[TokenScores, ...]) -> Iterator[Verdict]:
        for card, check in self.checks:
            if self.named:
                yield from self._judged(maps, check)
            elif _suits(card, maps[0]):
                yield from self._tried(maps, card, check)

    def _tried(self, maps: tuple[TokenScores, ...], card: CheckCard, check: Check[Any]) -> Iterator[Verdict]:
        """A check that nobody asked for may say that it needs more."""
        try:
            yield from self._judged(maps, check)
        except (BadInput, Unanswerable) as error:
            self.left_out.setdefault(card.name, str(error))

    def _judged(self, maps: tuple[TokenScores, ...], check: Check[Any]) -> list[Verdict]:
        same: dict[str, Any] = {"seed": self.prepared.aims.seed, "progress": self.progress, "around": self.around}
        found = judge(self.prepared.engine, maps, [check], draws=self.draws(maps, check), **same)
        self.tick()
        return found

    @staticmethod
    def looks_inside(card: MethodCard) -> bool:
        """Whether a method asks for more than predictions."""
        return bool(set(card.needs) - {Predict})

    def draws(self, maps: Sequence[TokenScores], check: Check[Any]) -> int | None:
        """The random maps of each text; None leaves it to the judge. Further maps cost a `Compares` check nothing."""
        if self.prepared.draws or len(maps) > 1:
            return self.prepared.draws
        if self.inside and not isinstance(check, Compares):
            return INSIDE
        return FEWEST if self.long else single_text_draws(len(maps[0].text))


def single_text_draws(words: int) -> int:
    """The random maps that a card of one text draws."""
    return max(FEWEST, min(_MOST, _ROWS // words))


def _suits(card: CheckCard, e: TokenScores) -> bool:
    """Whether the check asks for something that the method is about."""
    if card.name == "completeness":
        return "baseline" in e.facts
    if e.about.given:
        return True  # a check that must explain again says itself that it cannot
    return card.name != SANITY or Examiner.looks_inside(find_method(e.about.method))


def named_apart(standings: Sequence[Standing]) -> tuple[Standing, ...]:
    """One method with two settings is two methods: each gets a name that says how they differ."""
    return tuple(
        _apart(standing, [t.first.about for t in standings if t.name == standing.name]) for standing in standings
    )


def _apart(standing: Standing, namesakes: Sequence[About]) -> Standing:
    own = apart(standing.first.about.parameters, [about.parameters for about in namesakes])
    if not own:
        return standing
    settings = ", ".join(f"{name}={value}" for name, value in own.items())
    return replace(standing, name=f"{standing.name}({settings})", title=with_settings(standing.title, own))
