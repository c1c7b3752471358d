"""A user's own sample as behavioural probes: accuracy by group where it has labels, invariance where it has none.

Without labels nobody knows the right answer, but small changes should not change it (Ribeiro et al. 2020, section 3,
arXiv:2005.04118): a full stop at the end that comes or goes, two neighbouring letters swapped in the longest word
(where that has more than three letters), and the whole text in lower case. Nor should it matter who a text is about:
first names are exchanged for others (`swaps`), and words for men for those for women and the other way round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from assay.data.behavior.probes import LabelProbe, Probe, ProbeGroup, SameProbe
from assay.data.behavior.swaps import other_gender, other_names
from assay.errors import BadFile
from assay.text.example import Example
from assay.text.sample import Sample
from assay.text.text import Text

Change = Callable[[str], str]


def full_stop(text: str) -> str:
    """Without the full stop at the end, or with one."""
    kept = text.rstrip()
    return kept[:-1].rstrip() if kept.endswith(".") else f"{kept}."


def typo(text: str) -> str:
    """With the second and third letter of the longest word swapped; the first of several, and only of four or more."""
    words = [(end - start, -start) for start, end in Text.of(text).spans]
    size, start = max(words, default=(0, 0))
    at = -start + 1
    return text if size < 4 else f"{text[:at]}{text[at + 1]}{text[at]}{text[at + 2 :]}"


SMALL, WHO = "small changes", "who it is about"
CHANGES: dict[str, dict[str, Change]] = {
    SMALL: {"full stop": full_stop, "typo": typo, "lower case": str.lower},
    WHO: {"men and women": other_gender, "first names": other_names},
}


def from_sample(sample: Sample, groups: tuple[str, ...]) -> Iterator[Probe]:
    """Probes of all rows; `groups` are one or two columns by which rows with labels are counted together."""
    for row in sample.source.rows(extra=groups):
        if row.error is not None:
            where = "" if isinstance(row.error, BadFile) else f"row {row.position + 1}: "
            raise type(row.error)(f"{sample.name}, {where}{row.error}")
        yield from ([_labelled(row, groups)] if row.label is not None else _changed(row))


def _labelled(row: Example, groups: tuple[str, ...]) -> Probe:
    assert row.label is not None
    named = [str(row.extra[column]) for column in groups] or [f"label {row.label}"]
    return LabelProbe(ProbeGroup(named[0], ", ".join(named[1:]), "minimum functionality"), row.text, row.label)


def _changed(row: Example) -> Iterator[Probe]:
    """The text of a row beside each of its changed versions that differs from it."""
    for group, changes in CHANGES.items():
        for name, change in changes.items():
            changed = tuple(map(change, row.strings))
            if changed != row.strings and all(string.strip() for string in changed):
                other = changed[0] if len(changed) == 1 else (changed[0], changed[1])
                yield SameProbe(ProbeGroup(group, name, "invariance"), (row.text, other))
