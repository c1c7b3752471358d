"""The verb `trust`: several methods and every check that applies, on one text or on many, told on one card.

By default the methods are a few that this model can answer, and the checks are all that read word scores and need
nothing but the model; what needs more (human highlights, training data) is left out, and the card says why. Then

    deletion         is asked twice, the second time with another eraser: most methods delete words as well
    infidelity       is asked with scaled scores, since not all methods have the same unit
    stability        with a change of the punctuation alone: each change explains the text once more
    completeness     only of methods that promise a sum
    randomization    with two seeds, of the head and of all layers, and only of methods that look inside the model: the
                     others see nothing but its answers
    rank_agreement   not at all: it stands on the card between all methods
    sensitivity      not at all: it explains the text six times more, and asks much the same as stability

Checks that the user names are asked as they are, of every method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from typing import Any

from assay.engine.engine import Engine, Outcome
from assay.errors import AssayError, BadInput, Unanswerable, UnknownName
from assay.explanations.about import About
from assay.explanations.base import Explanation
from assay.explanations.token_scores import TokenScores
from assay.models import TextModel, load
from assay.progress import track
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict
from assay.registry.finding import checks as all_checks
from assay.registry.finding import find_check, find_method, require
from assay.registry.finding import methods as all_methods
from assay.text.text import TextLike
from assay.text.variants import Symbol
from assay.verbs import Aims, stream
from assay.verdicts.judge import judge
from assay.verdicts.naming import apart, with_settings
from assay.verdicts.standing import SANITY, Trial
from assay.verdicts.trust_card import TrustCard
from assay.verdicts.verdict import Verdict

__all__ = ["TrustCard", "trust"]

Made = tuple[str, Mapping[str, Any]]

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
_SETTINGS: Mapping[str, Mapping[str, Any]] = {
    "infidelity": {"scaled": True},
    "randomization": {"stages": 1, "seeds": (0, 1)},
    "stability": {"edits": ("punctuation",)},
}
_NOT_ASKED = {
    "adversarial_attention": "is about the model's attention, and takes long; see `assay audit-attention`",
    "attention_permutation": "is about the model's attention; see `assay audit-attention`",
    "rank_agreement": "stands on the card between all methods",
    "sensitivity": "asks much the same as stability and takes six times as long as the methods; name it to ask it",
}
_DATASET = "tests methods on a whole labelled dataset, not on single texts"
_FEWEST, _MOST, _ROWS = 40, 100, 2000  # random maps of one text: enough for a p-value of 0.05, fewer for long texts


def trust(
    model: Any,
    texts: TextLike | list[TextLike],
    methods: Sequence[Any] | None = None,
    checks: Sequence[Any] | None = None,
    *,
    draws: int | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    progress: bool | None = None,
    **aims: Any,
) -> TrustCard:
    """May one believe the heat maps of this text, or of these texts? A card that shows itself in a notebook.

    `methods` and `checks` are names or objects, by default those that suit the model; `aims` are what `explain` takes:
    target, against, scalar, focus, split. `draws` is the number of random maps of each text, by default 100 of a
    single text, fewer if it is long, and 200 over several.
    """
    engine = engine or Engine(load(model))
    given = texts if isinstance(texts, list) else [texts]
    if not given:
        raise BadInput("there is no text to explain.")
    chosen = _chosen(engine.model, methods)
    court = _Court(engine, given, Aims(seed=seed, **aims), checks, draws, progress if len(given) > 1 else False)
    trials = list(track(map(court.trial, chosen), len(chosen), "methods", progress if len(given) == 1 else False))
    return TrustCard(_named(trials), engine.model.name, seed, court.left_out)


def default_methods(model: TextModel) -> list[Any]:
    """A few methods of different kinds that this model can answer."""
    usual = _GRADIENT if InputGradient in model.answers else _BLACK_BOX
    return [find_method(name).make(settings) for name, settings in usual]


def default_checks(model: TextModel) -> Iterator[Any]:
    """Every check that reads word scores, that the model can answer, and that can be made without the user's help."""
    for card in all_checks().values():
        free = all(f.default is not MISSING or f.default_factory is not MISSING for f in card.parameters.values())
        fits = card.level == "text" and issubclass(TokenScores, card.reads) and model.answers.keys() >= set(card.needs)
        if free and fits and card.name not in _NOT_ASKED:
            yield card.make(_SETTINGS.get(card.name))
        if card.name == "deletion" and (other := _other_eraser(model)):
            yield card.make({"eraser": other})


def _other_eraser(model: TextModel) -> str | None:
    """Another way than deleting to take a word away, if the model has a token for it."""
    return next((str(s) for s in (Symbol.MASK, Symbol.UNKNOWN, Symbol.PAD) if s in model.spelling), None)


def _chosen(model: TextModel, methods: Sequence[Any] | None) -> list[Any]:
    """The methods as objects, each once, before the model is asked anything."""
    if methods is not None and (isinstance(methods, str) or not methods):
        raise BadInput("methods are a list of names or of methods, such as ['lime', 'leave_one_out'].")
    made = [find_method(m).make() if isinstance(m, str) else m for m in methods or default_methods(model)]
    for one in made:
        card = next((card for card in all_methods().values() if card.make_from is type(one)), None)
        if card is None:
            raise UnknownName(f"{one!r} is no method; give a name, as listed by `assay methods`.")
        if not issubclass(card.returns, TokenScores):
            raise BadInput(f"{card.name} returns {card.returns.__name__}, but a trust card compares scores of words.")
        require(card, model.answers, model.name)
    return [one for i, one in enumerate(made) if one not in made[:i]]


@dataclass
class _Court:
    """Where methods are put on trial, one by one, with the same texts and the same checks."""

    engine: Engine
    texts: list[Any]
    aims: Aims
    checks: Sequence[Any] | None
    draws: int | None
    progress: bool | None
    left_out: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        wanted = default_checks(self.engine.model) if self.checks is None else self.checks
        self.tests = [find_check(one).make() if isinstance(one, str) else one for one in wanted]
        if self.checks is None:
            self.left_out |= {name: why for name, why in _NOT_ASKED.items() if name in all_checks()}
            self.left_out |= {card.name: _DATASET for card in all_checks().values() if card.level == "dataset"}

    def trial(self, method: Any) -> Trial:
        outcomes = stream(self.engine.model, self.texts, method, aims=self.aims, engine=self.engine)
        tracked = track(outcomes, len(self.texts), "explaining", self.progress)
        maps = tuple(_told(outcome, i, len(self.texts)) for i, outcome in enumerate(tracked, start=1))
        about = maps[0].about
        return Trial(about.method, about.title, maps, tuple(self._verdicts(maps)))

    def _verdicts(self, maps: tuple[TokenScores, ...]) -> Iterator[Verdict]:
        for check in self.tests:
            if self.checks is not None:
                yield from self._judged(maps, check)
            elif _suits(check, maps[0]):
                yield from self._tried(maps, check)

    def _tried(self, maps: tuple[TokenScores, ...], check: Any) -> Iterator[Verdict]:
        """A check that nobody asked for may say that it needs more."""
        try:
            yield from self._judged(maps, check)
        except (BadInput, Unanswerable) as error:
            self.left_out.setdefault(_name(check), str(error))

    def _judged(self, maps: tuple[TokenScores, ...], check: Any) -> list[Verdict]:
        few = max(_FEWEST, min(_MOST, _ROWS // len(maps[0].text)))
        draws = self.draws or (few if len(maps) == 1 else None)
        return judge(self.engine, maps, [check], draws=draws, seed=self.aims.seed, progress=self.progress)


def _name(check: Any) -> str:
    return type(check).__module__.rpartition(".")[2]


def _suits(check: Any, e: TokenScores) -> bool:
    """Whether the check asks for something that the method is about."""
    if _name(check) == "completeness":
        return "baseline" in e.facts
    return _name(check) != SANITY or bool(set(find_method(e.about.method).needs) - {Predict})


def _told(outcome: Outcome[Explanation], i: int, many: int) -> TokenScores:
    """The explanation; an error says which of the texts it is about."""
    if many > 1 and isinstance(outcome.error, AssayError):
        raise type(outcome.error)(f"text {i}: {outcome.error}") from outcome.error
    told = outcome.get()
    assert isinstance(told, TokenScores)
    return told


def _named(trials: Sequence[Trial]) -> tuple[Trial, ...]:
    """One method with two settings is two methods: each gets a name that says how they differ."""
    return tuple(_apart(trial, [t.first.about for t in trials if t.name == trial.name]) for trial in trials)


def _apart(trial: Trial, namesakes: Sequence[About]) -> Trial:
    own = apart(trial.first.about.parameters, [about.parameters for about in namesakes])
    if not own:
        return trial
    settings = ", ".join(f"{name}={value}" for name, value in own.items())
    return replace(trial, name=f"{trial.name}({settings})", title=with_settings(trial.title, own))
