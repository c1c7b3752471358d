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

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain
from typing import Any

from assay.engine.engine import Engine
from assay.engine.threads import with_threads
from assay.errors import BadInput
from assay.explanations.rationale import Rationale
from assay.explanations.token_scores import TokenScores
from assay.progress import track
from assay.registry.finding import resolve_method
from assay.request import CheckLike, MethodLike, ModelLike, Request, aims_of, listed, several
from assay.text.text import TextLike
from assay.verbs import PreparedRequest, explain_by, prepare
from assay.verdicts.examining import Examiner, default_checks, default_methods, named_apart, single_text_draws
from assay.verdicts.given import all_given
from assay.verdicts.long_text import is_long, long_card
from assay.verdicts.long_texts import long_texts
from assay.verdicts.trust_card import TrustCard

__all__ = ["TrustCard", "default_checks", "default_methods", "single_text_draws", "trust"]


@with_threads
def trust(
    model: ModelLike,
    texts: TextLike | list[TextLike],
    methods: MethodLike | Sequence[MethodLike] | None = None,
    checks: CheckLike | Sequence[CheckLike] | None = None,
    *,
    scores: Any = None,
    draws: int | None = None,
    every_word: bool = False,
    rationale: bool = False,
    seed: int = 0,
    device: str | None = None,
    threads: int | None = None,
    engine: Engine | None = None,
    progress: bool | None = None,
    **aims: Any,
) -> TrustCard:
    """May one believe the heat maps of this text, or of these texts? A card that shows itself in a notebook.

    `methods` and `checks` are names or objects, by default those that suit the model; `aims` are what `explain` takes:
    target, against, scalar, focus, split, as are `device` and `threads`. `scores` are what another tool made of each
    text, as `check` takes them; methods are then shown only if you name them. `draws` is the number of random maps of
    each text, by default 100 of a single text, fewer if it is long, 200 over several. A text of more than 100 words is
    taken by its sentences, a single one also by the words of the strongest of them (`card.inside`); `every_word` takes
    all words, in minutes. `rationale` puts a writer's reasons on the card of a single text (`card.reason`).
    """
    asked = Request(
        model=model,
        texts=listed(texts)[0],
        methods=several(methods),
        checks=several(checks),
        aims=aims_of("trust", seed, aims),
        scores=scores,
        draws=draws,
        every_word=every_word,
        rationale=rationale,
        device=device,
    )
    return trust_card(asked, engine, progress)


def trust_card(request: Request, engine: Engine | None = None, progress: bool | None = None) -> TrustCard:
    """The card for a request; methods and checks that it leaves open are chosen to suit the model."""
    if request.methods is not None and not request.methods:
        raise BadInput("methods are a list of names or of methods, such as ['lime', 'leave_one_out'].")
    prepared = prepare(request, engine)
    if not request.rationale:
        return _tested(prepared, request, progress)
    if len(prepared.texts) != 1:
        raise BadInput("a card has reasons in words for a single text; leave rationale out, or give one text.")
    reason = explain_by(prepared, resolve_method("cage")[1], progress=False)[0]  # a missing writer is said first
    assert isinstance(reason, Rationale)
    return replace(_tested(prepared, request, progress), reason=reason)


def _tested(prepared: PreparedRequest, request: Request, progress: bool | None) -> TrustCard:
    named, one_text = request.checks is not None, len(prepared.texts) == 1
    if one_text and not request.every_word and is_long(prepared):
        defaults = request.methods is None
        return long_card(_with_methods(prepared, request, True), named=named, defaults=defaults, progress=progress)
    several = None if one_text or request.every_word else long_texts(prepared)
    long = several is not None and several.all
    prepared = _with_methods(several.prepared if several else prepared, request, long)
    examiner = Examiner(prepared, named, False if one_text else progress, long=long)
    given = list(all_given(prepared))
    standings = chain(map(examiner.standing, given), map(examiner.explained, [one for _, one in prepared.methods]))
    shown = track(standings, len(given) + len(prepared.methods), "methods", progress if one_text else False)
    found = named_apart(list(shown))
    card = TrustCard(found, prepared.engine.model.name, prepared.aims.seed, examiner.left_out)
    return several.said_on(card) if several else card


def _with_methods(prepared: PreparedRequest, request: Request, long: bool) -> PreparedRequest:
    """The methods, each once, chosen to suit the model where the request names none."""
    model = prepared.engine.model
    chosen = request.methods is not None or request.scores is not None
    methods = prepared.methods if chosen else [resolve_method(one) for one in default_methods(model, long=long)]
    for card, _ in methods:
        if not issubclass(card.returns, TokenScores):
            raise BadInput(f"{card.name} returns {card.returns.__name__}, but a trust card compares scores of words.")
    objects = [method for _, method in methods]
    return replace(prepared, methods=[pair for i, pair in enumerate(methods) if pair[1] not in objects[:i]])
