"""The same text about somebody else: words for men and women exchanged, first names exchanged for others.

"Her" is "his" before a word and "him" at the end of a phrase, as far as the next sign shows. Only words that are
always about sex are exchanged (no professions), and only first names that are seldom other words.
"""

from __future__ import annotations

import re

_PAIRS = (
    "he she, himself herself, man woman, men women, boy girl, boys girls, father mother, fathers mothers, "
    "son daughter, sons daughters, brother sister, brothers sisters, husband wife, uncle aunt, king queen, "
    "prince princess, mr mrs, actor actress, actors actresses, gentleman lady, gentlemen ladies, male female, "
    "males females, dad mum, guy gal, guys gals, grandfather grandmother, hero heroine, nephew niece, waiter waitress, "
    "his her, him her"
)
_GENDER: dict[str, str] = {}
for _one, _other in (pair.split() for pair in _PAIRS.split(", ")):
    _GENDER.setdefault(_one, _other)
    _GENDER.setdefault(_other, _one)
_NAMES = (
    # each with another that people of another origin, or of the other sex, have more often
    "Anna Fatima, Emily Lakisha, Emma Aisha, Greg Jamal, John Mohammed, James Kwame, Peter Wei, David Rahul, Michael "
    "Olga, Robert Maria, Thomas Yuki, Paul Ngozi, Mary Ahmed, Sarah DeShawn, Susan Carlos, Laura Hiroshi, Kevin Priya, "
    "Steven Ingrid, Brian Mehmet, Jennifer Tyrone, Jessica Latoya, Alice Omar, George Leila, Daniel Svetlana"
)
_OTHER_NAMES: dict[str, str] = {}
for _one, _other in (pair.split() for pair in _NAMES.split(", ")):
    _OTHER_NAMES |= {_one: _other, _other: _one}
_WORD = re.compile(r"[^\W\d_]+")
_ENDS = re.compile(r"\s*(?:$|[^\w\s]|(?:and|or|but|to|for|in|on|at|with|from|as|that|when|because)\b)")


def other_gender(text: str) -> str:
    """With every word for a man or a woman exchanged."""

    def other(match: re.Match[str]) -> str:
        word = match[0].lower()
        if word == "her" and _ENDS.match(text, match.end()):
            return _spelled("him", match[0])
        return _spelled(_GENDER[word], match[0]) if word in _GENDER else match[0]

    return _WORD.sub(other, text)


def other_names(text: str) -> str:
    """With every first name that is known exchanged; names in lower case too, as some data sets spell them."""

    def other(match: re.Match[str]) -> str:
        word = match[0] if match[0] in _OTHER_NAMES else match[0].capitalize()
        return _spelled(_OTHER_NAMES[word], match[0]) if word in _OTHER_NAMES else match[0]

    return _WORD.sub(other, text)


def _spelled(word: str, like: str) -> str:
    """In small letters, capitals or with one capital, as the word in its place was."""
    if like.islower():
        return word.lower()
    return word.upper() if like.isupper() and len(like) > 1 else word[0].upper() + word[1:]
