"""The verb `trust`: several methods and every check that applies, on one text or on many, shown on one card.

By default the methods are a few that this model can answer, and the checks are all that read word scores and need
nothing but the model; what needs more (human highlights, training data) is left out, and the card says why. Then

    deletion         is asked twice, the second time with another eraser: most methods delete words as well
    infidelity       is asked with scaled scores, since not all methods have the same unit
    stability        with a change of the punctuation alone: each change explains the text once more
    completeness     only of methods that promise a sum
    randomization    with two seeds, of the head and of all layers, and only of methods that look inside the model: the
                     others see nothing but its answers
    rank_agreement   not at all: it is shown on the card, between all methods
    sensitivity      not at all: it explains the text six times more, and asks much the same as stability

Checks that the user names are asked as they are, of every method.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, replace
from itertools import chain
from typing import Any

from assay.engine.engine import Engine
from assay.errors import BadInput, Unanswerable
from assay.explanations.about import About
from assay.explanations.token_scores import TokenScores
from assay.models import TextModel
from assay.progress import track
from assay.questions.gradients import InputGradient
from assay.questions.predict import Predict
from assay.registry.cards import CheckCard
from assay.registry.finding import checks as all_checks
from assay.registry.finding import find_method, resolve_check, resolve_method
from assay.registry.protocols import Check, Method
from assay.registry.sample_task import examines_sample
from assay.request import Aims, CheckLike, MethodLike, ModelLike, Request, listed, several
from assay.statistics.verdict import Verdict
from assay.text.text import TextLike
from assay.text.variants import Symbol
from assay.verbs import PreparedRequest, explain_by, prepare
from assay.verdicts.given import all_given
from assay.verdicts.judge import judge
from assay.verdicts.naming import apart, with_settings
from assay.verdicts.standing import SANITY, Standing
from assay.verdicts.trust_card import TrustCard

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
    "rank_agreement": "is shown on the card, between all methods",
    "sensitivity": "asks much the same as stability and takes six times as long as the methods; name it to ask it",
}
_SAMPLE = "tests methods on a whole labelled sample, not on single texts"
_FEWEST, _MOST, _ROWS = 40, 100, 2000  # random maps of one text: enough for a p-value of 0.05, fewer for long texts


def trust(
    model: ModelLike,
    texts: TextLike | list[TextLike],
    methods: MethodLike | Sequence[MethodLike] | None = None,
    checks: CheckLike | Sequence[CheckLike] | None = None,
    *,
    scores: Any = None,
    draws: int | None = None,
    seed: int = 0,
    engine: Engine | None = None,
    progress: bool | None = None,
    **aims: Any,
) -> TrustCard:
    """May one believe the heat maps of this text, or of these texts? A card that shows itself in a notebook.

    `methods` and `checks` are names or objects, by default those that suit the model; `aims` are what `explain` takes:
    target, against, scalar, focus, split. `scores` are what another tool made of the text, or of each text, as `check`
    takes them; then no methods are shown beside them but those that you name. `draws` is the number of random maps of
    each text, by default 100 of a single text, fewer if it is long, and 200 over several.
    """
    given, _ = listed(texts)
    asked = Request(
        model=model,
        texts=given,
        methods=several(methods),
        checks=several(checks),
        aims=Aims(seed=seed, **aims),
        scores=scores,
        draws=draws,
    )
    return trust_card(asked, engine, progress)


def trust_card(request: Request, engine: Engine | None = None, progress: bool | None = None) -> TrustCard:
    """The card for a request; methods and checks that it leaves open are chosen to suit the model."""
    if request.methods is not None and not request.methods:
        raise BadInput("methods are a list of names or of methods, such as ['lime', 'leave_one_out'].")
    prepared = _with_methods(prepare(request, engine), request)
    one_text = len(prepared.texts) == 1
    examiner = _Examiner(prepared, request.checks is not None, False if one_text else progress)
    given = list(all_given(prepared))
    standings = chain(map(examiner.standing, given), map(examiner.explained, [one for _, one in prepared.methods]))
    shown = track(standings, len(given) + len(prepared.methods), "methods", progress if one_text else False)
    return TrustCard(_named(list(shown)), prepared.engine.model.name, prepared.aims.seed, examiner.left_out)


def _with_methods(prepared: PreparedRequest, request: Request) -> PreparedRequest:
    """The methods, each once, chosen to suit the model where the request names none."""
    model = prepared.engine.model
    chosen = request.methods is not None or request.scores is not None
    methods = prepared.methods if chosen else [resolve_method(one) for one in default_methods(model)]
    for card, _ in methods:
        if not issubclass(card.returns, TokenScores):
            raise BadInput(f"{card.name} returns {card.returns.__name__}, but a trust card compares scores of words.")
    objects = [method for _, method in methods]
    return replace(prepared, methods=[pair for i, pair in enumerate(methods) if pair[1] not in objects[:i]])


def default_methods(model: TextModel) -> list[Method]:
    """A few methods of different kinds that this model can answer."""
    usual = _GRADIENT if InputGradient in model.answers else _BLACK_BOX
    return [find_method(name).make(settings) for name, settings in usual]


def default_checks(model: TextModel) -> Iterator[Check[Any]]:
    """Every check that reads word scores, that the model can answer, and that can be made without the user's help."""
    for card in all_checks().values():
        free = all(f.default is not MISSING or f.default_factory is not MISSING for f in card.parameters.values())
        fits = (
            not examines_sample(card)
            and issubclass(TokenScores, card.reads)
            and model.answers.keys() >= set(card.needs)
        )
        if free and fits and card.name not in _NOT_ASKED:
            yield card.make(_SETTINGS.get(card.name))
        if card.name == "deletion" and (other := _other_eraser(model)):
            yield card.make({"eraser": other})


def _other_eraser(model: TextModel) -> str | None:
    """Another way than deleting to take a word away, if the model has a token for it."""
    return next((str(s) for s in (Symbol.MASK, Symbol.UNKNOWN, Symbol.PAD) if s in model.spelling), None)


@dataclass
class _Examiner:
    """Puts methods to the same checks on the same texts, one method after the other."""

    prepared: PreparedRequest
    named: bool  # whether the user named the checks
    progress: bool | None
    left_out: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        chosen = default_checks(self.prepared.engine.model)
        self.checks = self.prepared.checks if self.named else [resolve_check(one) for one in chosen]
        if not self.named:
            self.left_out |= {name: why for name, why in _NOT_ASKED.items() if name in all_checks()}
            self.left_out |= {card.name: _SAMPLE for card in all_checks().values() if examines_sample(card)}

    def explained(self, method: Method) -> Standing:
        made = explain_by(self.prepared, method, self.progress)
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
        few = max(_FEWEST, min(_MOST, _ROWS // len(maps[0].text)))
        draws = self.prepared.draws or (few if len(maps) == 1 else None)
        seed = self.prepared.aims.seed
        return judge(self.prepared.engine, maps, [check], draws=draws, seed=seed, progress=self.progress)


def _suits(card: CheckCard, e: TokenScores) -> bool:
    """Whether the check asks for something that the method is about."""
    if card.name == "completeness":
        return "baseline" in e.facts
    if e.about.given:
        return True  # a check that must explain again says itself that it cannot
    return card.name != SANITY or bool(set(find_method(e.about.method).needs) - {Predict})


def _named(standings: Sequence[Standing]) -> tuple[Standing, ...]:
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
