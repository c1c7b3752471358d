"""Rules that change words: what they match by a slow loop, and that nothing else of a text changes."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import BadInput
from assay.text.text import Text
from assay.text.word_rules import Beside, WordRule

WORDS = st.sampled_from(["film", "Film", "FILM", "movie", "a", "good", ",", "it's", "東京", "x"])
GAPS = st.sampled_from([" ", "  ", "\n", " \t "])
BESIDE = st.none() | st.builds(Beside, st.sampled_from(["a", "good", ","])) | st.builds(
    Beside, st.sampled_from(["DET", "NOUN"]), st.just(True)
)  # fmt: skip
OLD = st.lists(st.sampled_from(["film", "movie", "a", "good", ","]), min_size=1, max_size=2).map(tuple)
NEW = st.lists(st.sampled_from(["picture", "film", "one"]), max_size=2).map(tuple)
RULES = (
    st.tuples(OLD, NEW, BESIDE, BESIDE).filter(lambda parts: parts[0] != parts[1]).map(lambda parts: WordRule(*parts))
)


@st.composite
def texts(draw: st.DrawFn) -> Text:
    words = draw(st.lists(WORDS, min_size=1, max_size=9))
    return Text.of("".join(f"{word}{draw(GAPS)}" for word in words))


def slow_places(rule: WordRule, words: list[str], tags: dict[int, str]) -> list[int]:
    found: list[int] = []
    i = 0
    while i < len(words):
        inside = [word.lower() for word in words[i : i + len(rule.old)]] == list(rule.old)
        for at, beside in ((i - 1, rule.left), (i + len(rule.old), rule.right)):
            if beside is not None:
                there = 0 <= at < len(words)
                inside = inside and there and (tags.get(at) if beside.is_tag else words[at].lower()) == beside.value
        if inside:
            found.append(i)
            i += len(rule.old)
        else:
            i += 1
    return found


@settings(max_examples=100, deadline=None)
@given(texts(), RULES, st.lists(st.sampled_from(["DET", "NOUN", "ADJ"]), min_size=12, max_size=12))
def test_only_what_matches_changes(text: Text, rule: WordRule, drawn: list[str]) -> None:
    words, tags = list(text.words), dict(enumerate(drawn))
    places = rule.places(words, tags)
    assert places == slow_places(rule, words, tags)
    changed = rule.applied(text, places)
    if not places:
        assert changed.strings == text.strings
    inside = {start + i for start in places for i in range(len(rule.old))}
    left = [word for i, word in enumerate(words) if i not in inside]
    new = [word.lower() for word in changed.words]
    for word in left:  # every word outside of a match is still there, in order
        assert word.lower() in new
        new = new[new.index(word.lower()) + 1 :]
    wanted: list[str] = []
    for i, word in enumerate(words):
        wanted += list(rule.new) if i in places else [] if i in inside else [word.lower()]
    assert "".join(changed.strings[0].split()).lower() == "".join(wanted)


@settings(max_examples=50, deadline=None)
@given(RULES)
def test_there_and_back(rule: WordRule) -> None:
    assert WordRule.of(json.loads(json.dumps(rule.to_dict()))) == rule


def test_how_it_is_said_and_written() -> None:
    rule = WordRule(("film",), ("movie",), left=Beside("DET", is_tag=True))
    assert str(rule) == "DET film → DET movie"
    assert rule.needs_tags
    assert str(WordRule(("really",), ())) == "really → (nothing)"
    text = Text.of("A FILM , Film and film.")
    assert WordRule(("film",), ("movie",)).applied(text, [1, 3, 5]).strings == ("A MOVIE , Movie and movie.",)
    assert WordRule(("film",), ()).applied(Text.of("a film, yes"), [1]).strings == ("a , yes",)


@pytest.mark.parametrize(
    "data", [{}, {"old": "film", "new": None}, {"old": [], "new": ["x"]}, {"old": ["a"], "new": ["a"]},
             {"old": ["Film"], "new": []}, {"old": [1], "new": []}, {"old": ["a"], "new": [], "left": {"no": "x"}}],
)  # fmt: skip
def test_what_is_no_rule_is_refused(data: dict[str, object]) -> None:
    with pytest.raises(BadInput):
        WordRule.of(data)
