"""Large questions in portions: versions of a very long text are made, asked and forgotten some at a time.

All versions of a text of 20,000 words without one word each are 400 million words; the masks that tell them apart are
a view of one row (`erasers.each`), and of the versions themselves no more are made at once than a portion has.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from assay.questions.base import Conversation, Question
from assay.text.text import Text
from assay.text.variants import Variants

CELLS = 1 << 22  # words in all versions of a portion
_PLAIN = 64  # words of a version that counts as one plain row


def large(*inputs: Text | Variants) -> bool:
    """Whether their versions are too many to be made at once."""
    return sum(map(_cells, inputs)) > CELLS


def weight(*inputs: Text | Variants) -> int:
    """How many plain rows a version counts as, so that portions do not wait beside each other."""
    return max(1, max(map(_words, inputs)) // _PLAIN)


def portions(*inputs: Text | Variants) -> Iterator[tuple[Text | Variants, ...]]:
    """The inputs in their order, cut so that each portion has at most so many cells, or one version."""
    held: list[Text | Variants] = []
    for part in _cut(inputs):
        if held and large(*held, part):
            yield tuple(held)
            held = []
        held.append(part)
    yield tuple(held)


def asked(question: Question) -> Conversation[object]:
    """A conversation that is this one question."""
    return (yield question)


def _cut(inputs: Sequence[Text | Variants]) -> Iterator[Text | Variants]:
    for part in inputs:
        if isinstance(part, Text) or _cells(part) <= CELLS:
            yield part
            continue
        size = max(1, CELLS // max(1, _words(part)))
        yield from (part.some(slice(i, i + size)) for i in range(0, len(part), size))


def _words(part: Text | Variants) -> int:
    return len(part if isinstance(part, Text) else part.text)


def _cells(part: Text | Variants) -> int:
    return _words(part) * (1 if isinstance(part, Text) else len(part))
