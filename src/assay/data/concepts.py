"""Pairs of texts that differ in one concept, for causal mediation: before and after the concept was set.

    professions   "The nurse said that" / "The man said that": he against she    Vig et al. (2020), arXiv:2004.12265
    winobias      "... because she" / "... because he", two continuations        Zhao et al. (2018), arXiv:1804.06876
    winogender    the same with the sentences of Winogender                      Rudinger et al. (2018), 1804.09301
    a sample      each row is a pair of texts; of a causal model with the two words that are compared

The two words of a pair are what a language model is asked about: the one that goes against the stereotype, then the
stereotypical one. As in the released code of Vig et al., professions that name a sex by definition (0.75 or more) are
left out, and of WinoBias and Winogender only sentences with "he" or "she" are taken, two of which share all that is
before the pronoun.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path

from assay.data.files import PathLike, lines, table
from assay.errors import BadFile, BadInput
from assay.explanations.mediated import MediatedPair
from assay.text.opening import opened
from assay.text.sample import Sample

# The templates of Vig et al. (2020), section 4.
TEMPLATES = tuple(
    f"The {{}} {end}"
    for end in (
        *(f"{verb} that" for verb in ("said", "yelled", "whispered", "wanted", "desired", "wished")),
        *(f"{verb} because" for verb in ("ate", "ran", "drove", "slept", "cried", "laughed", "yelled")),
        *("went home because", "stayed up because", "was fired because", "was promoted because"),
    )
)
_BY_DEFINITION = 0.75
_BRACKETS = re.compile(r"\[([^\]]*)\]")
_OTHER = {"he": "she", "she": "he"}


def professions(path: PathLike) -> Iterator[MediatedPair]:
    """Every template with every profession that is said to be rather a man's or a woman's."""
    named = list(_scored(path))
    for template in TEMPLATES:
        for word, by_definition, stereotype in named:
            score = by_definition + stereotype
            if abs(by_definition) < _BY_DEFINITION and score:
                changed, words = ("man", ("he", "she")) if score < 0 else ("woman", ("she", "he"))
                yield MediatedPair(template.format(word.replace("_", " ")), template.format(changed), *words)


def _scored(path: PathLike) -> Iterator[tuple[str, float, float]]:
    with opened(path) as file:
        try:
            rows = json.load(file)
            yield from ((str(word), float(one), float(two)) for word, one, two in rows)
        except (ValueError, TypeError) as error:
            raise BadFile(f"{path} must be a list of [profession, definition, stereotype] ({error}).") from error


def winobias(path: PathLike) -> Iterator[MediatedPair]:
    """Lines one and two, three and four, ... of the stereotypical sentences share what is before the pronoun."""
    files = sorted(Path(path).glob("pro_stereotyped_type1.txt.*"))
    if not files:
        raise BadFile(f"{path} holds no file pro_stereotyped_type1.txt.*.")
    for file in files:
        sentences = [line.partition(" ")[2] for _, line in lines(file)]
        for one, two in zip(sentences[::2], sentences[1::2], strict=False):
            yield from _shared_start(*(_BRACKETS.sub(r"\1", s) for s in (one, two)), *map(_pronoun, (one, two)))


def winogender(path: PathLike) -> Iterator[MediatedPair]:
    """The two sentences of an occupation; the pronoun is that of most people who have it."""
    folder = Path(path)
    share = {
        row.string("occupation"): float(row.string("bls_pct_female"))
        for row in table(folder / "winogender_occupation_stats.tsv", tabs=True)
    }
    rows = list(table(folder / "winogender_templates.tsv", tabs=True))
    for one, two in zip(rows[::2], rows[1::2], strict=False):
        occupation, other = one.string("occupation(0)"), one.string("other-participant(1)")
        if occupation not in share or two.string("occupation(0)") != occupation:
            continue
        pronoun = "she" if share[occupation] > 50 else "he"
        found = {
            row.string("answer"): row.string("sentence")
            .replace("$OCCUPATION", occupation)
            .replace("$PARTICIPANT", other)
            .replace("$NOM_PRONOUN", pronoun)
            for row in (one, two)
        }
        if set(found) == {"0", "1"}:
            yield from _shared_start(found["0"], found["1"], pronoun, pronoun)


def _pronoun(sentence: str) -> str:
    return next(iter(_BRACKETS.findall(sentence)[-1:]), "")


def _shared_start(own: str, other: str, pronoun: str, second: str) -> Iterator[MediatedPair]:
    """Two sentences as one prompt with two continuations; `own` is about whom the pronoun is the stereotype of."""
    start, _, rest = own.partition(f" {pronoun} ")
    other_start, _, other_rest = other.partition(f" {second} ")
    if pronoun in _OTHER and second in _OTHER and rest and other_rest and start == other_start:
        yield MediatedPair(f"{start} {pronoun}", f"{start} {_OTHER[pronoun]}", other_rest, rest)


def from_sample(sample: Sample, words: tuple[str, ...]) -> Iterator[MediatedPair]:
    """Rows of pairs; the compared words are the same for all, or stand in the label as word|word."""
    for row in sample:
        if len(row.strings) != 2:
            raise BadInput(
                f"{sample.name}, row {row.position + 1}: mediation reads pairs, a text and the same text with the "
                "concept changed; name the column of the second by --pair-column."
            )
        if not all(string.strip() for string in row.strings):
            raise BadInput(f"{sample.name}, row {row.position + 1}: one of the two texts is empty.")
        own = tuple(row.label.split("|")) if row.label and "|" in row.label else words
        if len(own) not in (0, 2) or "" in own or len(set(own)) < len(own):
            raise BadInput(f"{sample.name}, row {row.position + 1}: two words are compared, not {row.label!r}.")
        yield MediatedPair(row.strings[0], row.strings[1], *own)


PAIRS: dict[str, tuple[Callable[[PathLike], Iterator[MediatedPair]], tuple[str, ...]]] = {
    # Each with where it lies below a folder of data sets.
    "professions": (professions, ("vig_causal_mediation/experiment_data/professions.json", "professions.json")),
    "winobias": (winobias, ("vig_causal_mediation/winobias_data", "winobias")),
    "winogender": (winogender, ("vig_causal_mediation/winogender_data", "winogender")),
}
