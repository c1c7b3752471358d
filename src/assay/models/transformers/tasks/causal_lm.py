"""Hugging Face causal language models: the probability of a continuation of a prompt (continued.py).

    ("The film was", "slow but good")        or the prompt alone, for the model's own continuation

A continuation goes on exactly where the prompt ends; where two words would run together a blank is put between them.
A prompt without any word left is the token that begins a text (or that ends one, where there is no other). A prompt
that does not fit the window is refused: its end is what matters, and it would be what is cut. A text that the model was
trained on is read as transformers trains: every token is predicted from those before it, the first where the tokenizer
puts one before a text; no token is put at its end.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import regex

from assay.errors import AssayError, BadInput, Unanswerable
from assay.models.base import Spelling
from assay.models.transformers.network import Network
from assay.models.transformers.tasks.continued import Continued, Learned
from assay.models.transformers.tasks.projection import Wanted
from assay.models.transformers.tokens import Pieces
from assay.text.text import Row, Text
from assay.text.variants import Symbol

# Between a letter, a digit or a mark that closes, and a letter or digit, in scripts that separate words by blanks.
_BLANK_BETWEEN = regex.compile(
    r"""(?V1)
    [[\p{L}\p{N}\p{M}.,;:!?\p{Pe}\p{Pf}"']--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]] \n
    [[\p{L}\p{N}]--[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]]
    """,
    regex.VERBOSE,
)


class CausalLM(Continued):
    """Goes on with a prompt."""

    kind = "causal language model"
    reads_output = True

    def __init__(self, network: Network, fields: Sequence[str] = ()) -> None:
        super().__init__(network, ("prompt",))
        tokenizer = network.tokenizer
        self.prompts = network.encoder
        self.prompts.window = 10**9  # prompt and continuation share the window, see `_wanted`
        ends = tokenizer.bos_token, tokenizer.eos_token
        self._begin = next((tokenizer.convert_tokens_to_ids(token) for token in ends if token), None)
        self.nothing = None if network.encoder.template(1).specials[0] else next(filter(None, ends), None)
        pad = network.spelling.get(Symbol.PAD) or next((token for token in ends[::-1] if token), None)
        network.spelling = Spelling(network.name, {**network.spelling, Symbol.PAD: pad})

    def pieces(self, text: Text) -> Pieces:
        """Behind the prompt the continuation, as far as it is read, and not the special tokens that end a text."""
        pieces = super().pieces(text)
        return replace(pieces, ids=self.once(text.strings).ids, types=None) if self.settled(text) else pieces

    def reader(self, text: Text) -> int | None:
        """Where the first of the explained tokens is read off."""
        return int(self.once(text.strings).at[0]) if self.settled(text) else None

    def spaced(self, text: str, continuation: str) -> str:
        return f" {continuation}" if _BLANK_BETWEEN.fullmatch(f"{text[-1:]}\n{continuation[:1]}") else continuation

    def _heads(self, strings: Sequence[str]) -> Sequence[list[int] | AssayError]:
        end = len(self.prompts.template(1).specials[1])
        coded = [ids[: len(ids) - end] for ids, _ in self.prompts.rows([(string,) for string in strings])]
        return [ids or self._nothing() for ids in coded]

    def prefixes(self, text: str, ids: Sequence[int]) -> list[tuple[int, str]]:
        head, found = self._heads([text])[0], [(0, "")]
        if isinstance(head, AssayError):
            return found
        for j in range(1, len(ids)):
            decoded = self.decoded(ids[:j])
            spelled = (one for one in (decoded, f" {decoded}") if self._heads([text + one])[0] == [*head, *ids[:j]])
            found += [(j, string) for string in spelled][:1]
        return found

    def learned(self, row: Row) -> Learned | AssayError:
        head = self._heads(row[:1])[0]
        if isinstance(head, AssayError):
            return head
        if len(row) == 1:
            ids, beyond = head[: self.window], len(head) - self.window
            if len(ids) < 2:
                return BadInput(f"{row[0]!r:.60} is one token, and nothing is learned from it: no token follows.")
            wanted = Wanted(ids[:-1], None, tuple(range(len(ids) - 1)), tuple(ids[1:]))
            return Learned(wanted, max(0, beyond))
        following, room = self.following(self.spaced(*row)), self._room(head)
        if not following or room < 1:
            why = "has no token" if room > 0 else f"has no room behind its prompt of {len(head)} tokens"
            return BadInput(f"the continuation {row[1]!r:.40} {why}.")
        ids = following[:room]
        return Learned(self._wanted(head, ids, 0, len(ids)), len(following) - len(ids))

    def _nothing(self) -> list[int] | AssayError:
        if self._begin is not None:
            return [self._begin]
        return Unanswerable(
            f"{self.network.name} has no token that begins a text, so a prompt without words has no sequel."
        )

    def _room(self, head: Sequence[int]) -> int:
        return self.window - len(head) + 1  # the last token is not read again

    def _wanted(self, head: list[int], ids: Sequence[int], first: int, last: int) -> Wanted:
        lead, over = len(self.prompts.template(1).specials[0]), max(0, len(head) + last - 1 - self.window)
        seen = head[:lead] + head[lead + over :]  # a version with longer words loses the first of them
        at = tuple(len(seen) - 1 + j for j in range(first, last))
        return Wanted([*seen, *ids[: last - 1]], None, at, tuple(ids[first:last]))
