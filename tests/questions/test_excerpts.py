import numpy as np
import pytest

from assay.errors import Unanswerable
from assay.questions.excerpts import Excerpt
from assay.questions.inside import Depth
from assay.questions.predict import Predict
from assay.text.text import Text
from assay.text.units import excerpt, in_parts, opened
from assay.text.variants import Symbol, Variants

TEXT = Text.of("It begins well. The cast is fine, the songs are not! " * 8)
PARTS, _ = in_parts(TEXT)
INSIDE = Excerpt(excerpt(PARTS, [2], TEXT), *opened(PARTS, TEXT, [2]))


def asked(inquiry: object) -> Predict:
    """What is asked in the end."""

    def conversation():
        return (yield inquiry)

    found = next(INSIDE.within(conversation()))
    assert isinstance(found, Predict)
    return found


class Spelling:
    spelling = {Symbol.MASK: "[M]"}  # noqa: RUF012


def test_a_word_goes_and_the_rest_of_the_text_stays() -> None:
    keep = np.array([[True, True, True, False], [False, True, True, True]])
    (rows,) = ([row for (row,) in asked(Predict(Variants(INSIDE.text, keep))).rows(Spelling)],)
    first, second, third = "It begins well.", "The cast is fine, the songs are not!", PARTS.words[3]
    assert rows[0].startswith(f"{first} {second} It begins well {third}")
    assert rows[1].startswith(f"{first} {second} begins well. {third}")
    assert all(len(Text.of(row)) == len(TEXT) - 1 for row in rows)


def test_a_mask_stands_in_the_place_of_the_word() -> None:
    keep = np.array([[True, False, True, True]])
    ((row,),) = asked(Predict(Variants(INSIDE.text, keep, Symbol.MASK))).rows(Spelling)
    assert row.count("[M]") == 1
    assert row.startswith("It begins well. The cast is fine, the songs are not! It [M] well. The cast")


def test_the_excerpt_itself_is_the_whole_text() -> None:
    assert asked(Predict(INSIDE.text)).rows(Spelling) == [TEXT.strings]


def test_another_model_is_still_the_one_that_is_asked() -> None:
    assert asked(Predict(INSIDE.text).sent_to("@other")).model == "@other"


@pytest.mark.parametrize("inquiry", [Depth(), Predict(Text.of("another text"))])
def test_what_cannot_be_asked_of_some_words_is_refused(inquiry: object) -> None:
    with pytest.raises(Unanswerable):
        asked(inquiry)
