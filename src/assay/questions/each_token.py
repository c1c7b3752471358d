"""The tokens of a continuation, one at a time.

parts = yield EachToken(text)            -> TokenTexts: for each token, a text in which this token alone is explained
"""

from __future__ import annotations

from dataclasses import dataclass

from assay.questions.answers import OfNumbers
from assay.questions.base import OneRow
from assay.text.text import Text


@dataclass(frozen=True)
class TokenTexts(OfNumbers):
    """A text with the tokens of its continuation, and for each token the settled text that explains it alone.

    The words of `source` are all that any token can rest on: those of the text that was given, and for a model that
    reads its own output as one text with it, the tokens before the last. Each of `texts` has the first of these words.
    """

    source: Text
    tokens: tuple[str, ...]
    texts: tuple[Text, ...]
    held: tuple[int, ...] = ()  # tokens with earlier tokens that could not be words of their text, and stay as they are


class EachToken(OneRow):
    """The texts of the single tokens of a text whose continuation is settled."""

    def __init__(self, text: Text) -> None:
        self.row = text
