"""The page of a study, docs/studies/NAME.md: made of kept tables, by rules, so that it can be made again.

    PAGE = Page(title=..., paper=..., meaning=..., sentences=(Sentence(key="modest", short=..., quote=..., place=...),))
    PAGE.text("NAME", kept)       # Markdown
    PAGE.figures(kept)            # its figures by their names

First a table of the claims with verdict, our numbers and the published ones; what that means; how long the command
takes; then each claim with all its numbers; the foot line tells settings, machine, versions and time. Questions that
the paper did not ask, and data that it did not have, stand under a heading of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from assay_studies.charts import figure
from assay_studies.judged import Judged, Sentence, judged
from assay_studies.kept import Kept
from assay_studies.origin import NOT_KEPT
from assay_studies.rules import CORRECTED
from assay_studies.stays import OWN, STAYS, shown
from assay_studies.tables import piped


@dataclass(frozen=True, kw_only=True)
class Page:
    """What a study says besides its numbers; `tables` are shown whole, all are linked.

    `time` names facts of the run in braces, as "{Time} on {Machine}", so that no time is written by hand.
    `of_run` are further differences from the paper, those that depend on the run that the page is of. `words` are
    paragraphs of what was found, made of the kept numbers, so that no number is written by hand; `derived` adds numbers
    that follow from others, as means over datasets do, which may be of several runs. `quotes` are sentences of the
    paper (with their places) that are no claims to be decided, `seen` what we see, in a sentence or two.
    """

    title: str
    paper: str
    run: Sequence[str]  # commands
    time: str
    needs: str
    meaning: str
    sentences: Sequence[Sentence]
    differs: Sequence[str]
    variance: str  # what the intervals hold of the training
    quotes: Sequence[tuple[str, str]] = ()
    seen: Callable[[Kept], Iterator[str]] = lambda kept: iter(())
    tables: Sequence[str] = ()
    drawn: Sequence[str] = ()
    of_run: Callable[[Kept], Iterator[str]] = lambda kept: iter(())
    words: Callable[[Kept], Iterator[str]] = lambda kept: iter(())
    derived: Callable[[Kept], Kept] = lambda kept: kept

    def text(self, name: str, kept: Kept) -> str:
        found = [judged(sentence, kept.claims.get(sentence.key, ())) for sentence in self.sentences]
        papers, own = [one for one in found if not one.sentence.own], [one for one in found if one.sentence.own]
        made = f"<!-- Made by `assay study {name} --page DIR` from {name}/tables; do not edit. -->"
        lines = [
            f"# {self.title}",
            "",
            made,
            "",
            self.paper,
            "",
            *_top(papers[:_FIRST]),
            CORRECTED,
            "",
            self.variance,
            "",
        ]
        lines += ["**What this means for your model.** " + self.meaning, "", *self._command(kept)]
        lines += self._said(kept)
        if papers:
            lines += ["## Claim by claim", "", *(line for one in papers for line in _claim(one, name))]
        further = [line for one in found for line in _further(one)]
        if own or further:
            lines += ["## Our own questions", "", _OWN, "", *_top(own), *(x for one in own for x in _claim(one, name))]
            lines += further
        lines += [line for words in self.words(kept) for line in (words, "")]
        lines += [
            "## What differs from the paper",
            "",
            *(f"- {one}" for one in (*self.differs, *self.of_run(kept))),
            "",
        ]
        lines += [*self._tables(name, kept), *_foot(kept)]
        return "\n".join(lines).rstrip() + "\n"

    def _said(self, kept: Kept) -> Iterator[str]:
        if self.quotes:
            yield from ("## What the survey says, and what we see", "")
        for quote, place in self.quotes:
            yield from (f"> “{quote}” ({place})", "")
        yield from (line for words in self.seen(kept) for line in (words, ""))

    def _command(self, kept: Kept) -> Iterator[str]:
        yield from ("```console", *(f"$ {line}" for line in self.run), "```", "")
        yield from (f"{self.time.format_map(_Facts(kept.facts))} {self.needs}", "")

    def _tables(self, name: str, kept: Kept) -> Iterator[str]:
        yield from ("## Tables and figures", "")
        for table in filter(None, map(kept.tables.get, self.tables)):
            yield table.to_markdown()
        for one in self.drawn:
            if one in kept.tables:
                yield from (f"![{kept.tables[one].title}]({name}/figures/{one}.png)", "")
        links = ", ".join(f"[{one}]({name}/tables/{one}.csv)" for one in kept.tables)
        yield from (f"All numbers: [claims]({name}/tables/claims.csv), {links}.", "")

    def figures(self, kept: Kept) -> dict[str, bytes]:
        wanted = dict.fromkeys((*self.drawn, *(name for one in self.sentences for name in one.figures)))
        made = {name: figure(kept.tables[name]) for name in wanted if name in kept.tables}
        return {name: picture for name, picture in made.items() if picture is not None}


class _Facts(dict[str, str]):
    """One that a run did not keep is said to be not kept."""

    def __missing__(self, name: str) -> str:
        return NOT_KEPT


_FIRST = 8  # claims in the table at the top; the others follow claim by claim
_OWN = "The paper does not say these; the questions and their limits are ours, or the data is."


def _top(found: Sequence[Judged]) -> Iterator[str]:
    if found:
        yield piped(["claim", "here", "ours", "published"])
        yield piped(["---"] * 4)
        yield from (piped([_cited(one.sentence), one.verdict, one.ours, one.published]) for one in found)
        yield ""


def _cited(sentence: Sentence) -> str:
    return f"{sentence.short} ({sentence.place})" if sentence.place else sentence.short


def _claim(one: Judged, name: str) -> Iterator[str]:
    yield from (f"### {one.sentence.short}", "", one.verdict, "")
    if one.sentence.quote:
        yield from (f"> “{one.sentence.quote}” ({one.sentence.place})", "")
    if one.sentence.reading:
        yield from (one.sentence.reading, "")
    yield from _rows(one.rows)
    for picture in one.sentence.figures:
        yield from (f"![{one.sentence.short}]({name}/figures/{picture}.png)", "")


def _further(one: Judged) -> Iterator[str]:
    """The same question on data that the paper did not have."""
    if one.beyond:
        yield from (f"### {one.sentence.short}: data that the paper did not have", "", *_rows(one.beyond))


def _rows(rows: Sequence[Mapping[str, str]]) -> Iterator[str]:
    if not rows:
        yield from ("Not measured.", "")
        return
    shown = [column for column in rows[0] if any(row[column] for row in rows)]
    yield piped(["" if column == "about" else column for column in shown])
    yield piped(["---"] * len(shown))
    yield from (piped([row[column] for column in shown]) for row in rows)
    yield ""


def _foot(kept: Kept) -> Iterator[str]:
    yield "---"
    yield ""
    yield _told(kept.facts)
    if kept.origin:
        yield from ("", f"{kept.origin}.")
    for facts in kept.earlier:
        yield from ("", f"An earlier run. {_told(facts)}")


def _told(facts: Mapping[str, str]) -> str:
    told = {name: shown(value) if name in (OWN, STAYS) else value for name, value in facts.items()}
    return " · ".join(f"{name}: {value}" for name, value in told.items()).rstrip(".") + "."
