"""The search of MiCE with an editor that writes: a language model fills blanks of a text toward a label.

    positive: a [BLANK] film that [BLANK]                          ->  funny | moves
    fills:

Words that are hidden next to each other are one blank. Each of `samples` answers fills all blanks at once, with as many
words as it likes; an answer with too many fills or too few is dropped. A text of more than `window` words is filled
piece by piece, cut at the ends of sentences where there are some. Of a pair the other text is shown too, on its own
side (`neutral: A man poses. | A man is [BLANK]`), or as many of its words as a piece has. A search that failed goes on
from its best versions, with a gradient of their own. In the end all changes that can be taken back without losing the
label are, one at a time; of equally small versions those come first whose fills the editor finds likeliest.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from math import ceil

import numpy as np

from assay.explanations.flips import Goal
from assay.explanations.rewritten import Rewritten
from assay.methods.counterfactuals.minimal_search import MinimalSearch, SearchSettings, smallest_first
from assay.methods.counterfactuals.word_order import WordOrder
from assay.questions.base import Conversation
from assay.questions.each import Each
from assay.questions.generation import Generate, Generated, Likelihood, Sampling
from assay.questions.predict import Predict
from assay.text.blanks import Beside, editor_answer, editor_prompt, read_fills, with_blanks
from assay.text.text import Field, Text

_COMPARED = 12  # small versions whose fills are compared
_UNDONE = 3  # of the smallest versions, whose changes are taken back


@dataclass(frozen=True)
class HowToWrite:
    """How an editor is asked."""

    editor: str
    label: str
    samples: int
    temperature: float
    top_p: float
    window: int
    seed: int
    tokens: int = 8  # for a hidden word; the fills of a blank may be longer than what stood there


@dataclass(frozen=True)
class FilledText(Rewritten):
    """A text whose blanks were filled, and the log-probability of the fills."""

    fluency: float = 0.0

    @property
    def readable(self) -> Text:
        """The text with words that can be explained."""
        fields = (
            Field(f.name, self.string, Text.of(self.string).spans, f.part) if f.name in self.whole.focus else f
            for f in self.whole.fields
        )
        return Text(tuple(fields), self.whole.focus)


class WrittenSearch(MinimalSearch[FilledText]):
    """Fills by a language model that was trained for it."""

    def __init__(
        self, settings: SearchSettings, goal: Goal, ordering: WordOrder, order: Sequence[int], writing: HowToWrite
    ) -> None:
        super().__init__(settings, goal, FilledText(goal.text, _string(goal.text), goal.whole.chances))
        self.ordering, self.writing, self.known = ordering, writing, {self.whole.string}
        self.beside = _beside(goal.text, writing.window)
        self.orders = {self.whole.string: list(order)}
        self.written = self.malformed = 0

    @property
    def counts(self) -> dict[str, int]:
        """How many answers the editor wrote, and how many of them could not be read."""
        return {"written": self.written, "malformed": self.malformed}

    def fill_once(self, counts: Sequence[int], tokens: int) -> Conversation[None]:
        """Instead of a search: fill so many words of the text anew, for each of these numbers; they share the samples.

        An answer has at most so many `tokens` for each hidden word.
        """
        yield from self._fill_each([self.whole], counts, tokens)
        yield from self._undo()

    def fill_widely(self, tokens: int) -> Conversation[None]:
        """Instead of a search, where few words are known not to do: half of the share, three quarters, and all of it.

        Where nothing gets the label, half of the share again in the best versions, for `rounds` rounds. A round writes
        about `samples` answers, which its starts and numbers share; a search writes that many for each of them.
        """
        most = self.settings.share * len(self.goal.text)
        counts = [max(1, ceil(most * part)) for part in (0.5, 0.75, 1.0)]
        yield from self._fill_each([self.whole], counts, tokens)
        for _ in range(self.settings.rounds):
            if self.flipped:
                break
            starts = self._ranked(self.unflipped)[: self.settings.beam]
            yield from self._fill_each(starts, counts[:1], tokens)
        yield from self._undo()

    def _fill_each(self, starts: Sequence[FilledText], counts: Sequence[int], tokens: int) -> Conversation[None]:
        """All of these starts by all of these numbers of words, in a step of the path for each number."""
        counts = sorted({min(many, self._fillable()) for many in counts} - {0})
        asked = [(start, many) for many in counts for start in starts]
        whole = self.writing
        self.writing = replace(whole, samples=ceil(whole.samples / max(1, len(asked))), tokens=tokens)
        made = yield Each(self._filled(start, many) for start, many in asked)
        self.writing = whole
        for many in counts:
            own = [version for (_, n), part in zip(asked, made, strict=True) if n == many for version in part]
            flipped = yield from self._new(own)
            fewest = min((version.size for version in flipped), default=None)
            self.path.append({"share": round(many / len(self.goal.text), 4), "holes": many, "changed": fewest})

    def best(self) -> Conversation[list[FilledText]]:
        few = sorted(self.flipped, key=smallest_first)[: max(_COMPARED, self.settings.versions)]
        likely = yield Each(self._likelihood(version) for version in few)
        fitting = [replace(version, fluency=value) for version, value in zip(few, likely, strict=True)]
        return sorted(fitting, key=smallest_first)[: self.settings.versions]

    def _ranked(self, versions: Sequence[FilledText]) -> list[FilledText]:
        """Those nearest to the label; by the likelihood of so many fills the text itself would come first."""
        return sorted(versions, key=self.goal.left)

    def _fillable(self) -> int:
        return len(self.orders[self.whole.string])

    def _fill(self, starts: Sequence[FilledText], many: int) -> Conversation[list[FilledText]]:
        parts = yield Each(self._filled(start, many) for start in starts)
        return (yield from self._new([version for part in parts for version in part]))

    def _new(self, versions: Sequence[FilledText]) -> Conversation[list[FilledText]]:
        """Try those that were not tried before; the ones that get the label."""
        new = {version.string: version for version in versions if version.string not in self.known}
        return self._sorted_in((yield from self._tried(list(new.values()))))

    def _filled(self, start: FilledText, many: int) -> Conversation[list[FilledText]]:
        """The text with its most important words filled in anew, in several ways."""
        text, order = start.readable, (yield from self._order(start))
        hidden = np.isin(np.arange(len(text)), order[:many])
        spans = [span for span in pieces(text.words, self.writing.window) if hidden[slice(*span)].any()]
        answers = yield Each(self._written(text.words[slice(*span)], hidden[slice(*span)].tolist()) for span in spans)
        made = []
        for i in range(max(map(len, answers), default=0)):
            words, fluency = list[str | None](text.words), start.fluency
            for (a, b), found in zip(spans, answers, strict=True):
                if found:  # else the piece stays as it is
                    fills, likely = found[i % len(found)]
                    words[a:b] = put_in(text.words[a:b], hidden[a:b].tolist(), fills)
                    fluency += likely
            made.append(FilledText(self.goal.text, _string(text.with_words(words)), fluency=fluency))
        return made

    def _order(self, start: FilledText) -> Conversation[list[int]]:
        if start.string not in self.orders:
            self.orders[start.string] = yield from self.ordering(start.readable)
        return self.orders[start.string]

    def _written(self, words: Sequence[str], hidden: Sequence[bool]) -> Conversation[list[tuple[list[str], float]]]:
        """Fills for the blanks of a piece, each with its log-probability; what is malformed is dropped."""
        how, (shown, blanks) = self.writing, with_blanks(words, hidden)
        found: list[Generated] = yield Generate(
            editor_prompt(how.label, " ".join(shown), self.beside),
            n=how.samples,
            seed=how.seed,
            stop=("\n",),
            max_tokens=how.tokens * (1 + sum(hidden)),
            sampling=Sampling(how.temperature, how.top_p),
            model=how.editor,
        )
        read = [(readable_fills(one, len(blanks)), float(one.log_probs.sum())) for one in found]
        self.written += len(read)
        self.malformed += sum(fills is None for fills, _ in read)
        return list({tuple(fills): (fills, likely) for fills, likely in read if fills is not None}.values())

    def _tried(self, versions: Sequence[FilledText]) -> Conversation[list[FilledText]]:
        versions = [version for version in versions if version.size and Text.of(version.string).words]
        self.known |= {version.string for version in versions}
        if not versions:
            return []
        answers = yield Predict(*(version.text for version in versions))
        return [version.with_chances(row) for version, row in zip(versions, answers.probabilities, strict=True)]

    def _undo(self) -> Conversation[None]:
        many = max(_UNDONE, self.settings.versions)
        versions = sorted(self.flipped, key=smallest_first)[:many]
        while versions := [version for version in versions if version.size > 1]:
            back = {one.string: one for version in versions for one in taken_back(version)}
            tried = yield from self._tried([one for string, one in back.items() if string not in self.known])
            versions = sorted((one for one in tried if self.goal.reached(one)), key=smallest_first)[:many]
            self.flipped += versions

    def _likelihood(self, version: FilledText) -> Conversation[float]:
        """Log p of what is new, by the editor, given all that is not; of what was only taken away it is 0."""
        old, new = self.goal.text.words, Text.of(version.string).words
        hidden = [False] * len(new)
        for kind, _, _, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            hidden[c:d] = [kind != "equal"] * (d - c)
        total = 0.0
        for a, b in pieces(new, self.writing.window):
            shown, fills = with_blanks(new[a:b], hidden[a:b])
            if fills:
                prompt = editor_prompt(self.writing.label, " ".join(shown), self.beside)
                answer = editor_answer(map(" ".join, fills))
                (likely,) = yield Likelihood(prompt, answer, ended=True, model=self.writing.editor)
                total += likely.total
        return total


def readable_fills(one: Generated, blanks: int) -> list[str] | None:
    """One fill with a letter or a digit for each blank; None where there are more or fewer, or it was cut off."""
    fills = None if one.ended == "length" else read_fills(one.text, blanks)
    return fills if fills is not None and all(any(map(str.isalnum, fill)) for fill in fills) else None


def put_in(words: Sequence[str], hidden: Sequence[bool], fills: Sequence[str]) -> list[str | None]:
    """For each place what stands there now: a fill as a whole where its blank begins, nothing in the rest of it."""
    new: list[str | None] = [None if hide else word for word, hide in zip(words, hidden, strict=True)]
    starts = [i for i, hide in enumerate(hidden) if hide and not (i and hidden[i - 1])]
    for i, fill in zip(starts, fills, strict=True):
        new[i] = fill
    return new


def taken_back(version: FilledText) -> Iterator[FilledText]:
    """The version with one word, or one whole change, as it was before."""
    old, now = version.whole.words, Text.of(version.string)
    for kind, a, b, c, d in SequenceMatcher(None, old, now.words, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        yield _with(version, now, c, d, old[a:b])
        if b - a == d - c > 1:
            yield from (_with(version, now, c + i, c + i + 1, old[a + i : a + i + 1]) for i in range(d - c))
        elif a == b and d - c > 1:
            yield from (_with(version, now, i, i + 1, ()) for i in range(c, d))


def _with(version: FilledText, now: Text, start: int, end: int, words: Sequence[str]) -> FilledText:
    """The version with other words from one place to another; words that come back stand before what follows."""
    new = list[str | None](now.words)
    if start < end:
        new[start:end] = [" ".join(words) or None, *[None] * (end - start - 1)]
    elif start < len(new):
        new[start] = " ".join([*words, now.words[start]])
    else:
        new[-1] = " ".join([now.words[-1], *words])
    return replace(version, string=now.with_words(new).strings[0], chances=())


def pieces(words: Sequence[str], window: int) -> list[tuple[int, int]]:
    """Where to cut a text into pieces of at most so many words: behind the last end of a sentence that fits."""
    cuts = [0]
    while len(words) - cuts[-1] > window:
        start = cuts[-1]
        ends = [i + 1 for i in range(start + window // 2, start + window) if words[i] in (".", "!", "?")]
        cuts.append(ends[-1] if ends else start + window)
    return list(zip(cuts, [*cuts[1:], len(words)], strict=True))


def _string(text: Text) -> str:
    (field,) = text.explained
    return field.string


def _beside(text: Text, window: int) -> Beside:
    """The other text of a pair, before the edited one or behind it."""
    edited = next(i for i, field in enumerate(text.fields) if field.name in text.focus)
    first, last = (_begin(text.fields[part], window) for part in (slice(edited), slice(edited + 1, None)))
    return first, last


def _begin(fields: Sequence[Field], window: int) -> str | None:
    """The first words of some fields; None where there are no words."""
    return " ".join(" ".join(field.string for field in fields).split()[:window]) or None
