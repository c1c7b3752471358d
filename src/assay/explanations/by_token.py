"""Explain each token of a continuation by itself, with any method that scores words: one matrix instead of one map.

The conversations of all tokens are children of one, so they go through the engine side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from assay.errors import BadInput, Unanswerable, UnknownName
from assay.explanations.base import Explanation
from assay.explanations.case import Case
from assay.explanations.reading import Explains, Reader, read
from assay.explanations.token_matrix import TokenMatrix, padded
from assay.explanations.token_scores import TokenScores
from assay.questions.aims import Aims
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.each_token import EachToken, TokenTexts
from assay.questions.predict import Predict
from assay.text.text import TextLike


def explained_by_token(model: Reader, method: Explains[Any], source: TextLike, aims: Aims) -> Conversation[TokenMatrix]:
    """Read the text, settle its continuation, and explain every token of it."""
    if EachToken not in model.answers:
        raise Unanswerable(
            "only a model that continues a text (a causal language model or an encoder-decoder) has tokens to explain "
            f"one by one; this one answers with {_listed(model.labels)}: leave out tokens='each' (--tokens)."
        )
    reading = yield from read(model, source, aims)
    parts = yield EachToken(reading.case.text)
    chances = (yield Predict(*parts.texts)).probabilities[:, reading.case.target]
    maps = yield Each(_explained(method, replace(reading.case, text=text)) for text in parts.texts)
    return TokenMatrix(
        replace(reading.case, text=parts.source),
        parts.tokens,
        padded([e.scores for e in maps], len(parts.source)),
        tuple(chances.tolist()),
        prediction=reading.prediction,
        unseen=reading.unseen,
        given=reading.given,
        facts=_facts(maps),
        warnings=tuple(dict.fromkeys([w for e in maps for w in e.warnings] + [*_held(parts), *reading.warnings])),
    )


def require_by_token(tokens: str | None, name: str, returns: type[Explanation], *, tested: bool = False) -> None:
    """An error where a method cannot explain tokens one by one, or is to be tested so, before it is asked to."""
    if tokens not in (None, "each"):
        raise UnknownName.of("choice of tokens", tokens, ["each"])
    if tokens is not None and tested:
        raise BadInput(
            "checks test one explanation of a text, not tokens='each'; give the token as a part of the text: "
            "{'prompt': ..., 'continuation': ..., 'token': '2'}."
        )
    if tokens is not None and not issubclass(returns, TokenScores):
        raise BadInput(f"tokens='each' takes a method that scores words, and {name} returns {returns.kind}.")


def _explained(method: Explains[Any], case: Case) -> Conversation[TokenScores]:
    """One token's map, which must be one of the words that it was given."""
    e = yield from method.explain(case)
    assert isinstance(e, TokenScores), "other methods have been refused"
    if e.text.words != case.text.words:
        raise BadInput("tokens='each' scores words and single tokens; leave the method's unit at 'words'.")
    return e


def _held(parts: TokenTexts) -> Iterator[str]:
    if parts.held:
        named = ", ".join(f"{j} ({parts.tokens[j].strip()!r})" for j in parts.held[:5])
        more = ", ..." if len(parts.held) > 5 else ""
        yield (
            f"for the tokens {named}{more} some tokens before them have no score: the tokenizer would split the text "
            "otherwise there, so they were kept as they are"
        )


def _facts(maps: Sequence[TokenScores]) -> dict[str, Any]:
    """What all maps say alike; of the rest, a list with what each token's map says."""
    names = dict.fromkeys(name for e in maps for name in e.facts)
    found = {name: [e.facts.get(name) for e in maps] for name in names}
    return {name: said[0] if all(one == said[0] for one in said) else said for name, said in found.items()}


def _listed(labels: Sequence[str]) -> str:
    return f"one of {len(labels)} labels" if len(labels) > 3 else " or ".join(repr(label) for label in labels)
