"""What kind of edit leads from one sentence to another: the control codes of Polyjuice, found again by rules.

    negation      a word that negates came, or went, and little else: "is not", "no", "never"
    quantifier    a number or a quantifier changed, and what agrees with it: "a dog is" -> "three dogs are"
    shuffle       the same words in another order
    insert        words came, none went
    delete        words went, none came
    lexical       up to three words gave way to as many others of the same parts of speech
    resemantic    up to three phrases gave way to others, and the skeleton of the sentence is as it was
    restructure   words moved, or the skeleton changed: the number of its verbs, auxiliaries and conjunctions, or how a
                  verb takes its object ("embraced by" -> "hugging")

The first that fits; none where nothing changed, or nearly everything. The codes are those of Wu, Ribeiro, Heer and Weld
(2021), Polyjuice, arXiv:2101.00288, table 2. They compare parses; here words are aligned, and parts of speech are asked
of the changed words alone (`changed_places`). Without tags, closed classes (auxiliaries, conjunctions) are known by
their words, and other words pass as being of one part of speech.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cached_property
from types import MappingProxyType
from typing import TypeAlias

from assay.text.plain_words import PlainWord, plain_words, stem
from assay.text.stop_words import STOP_WORDS

CODES = ("negation", "quantifier", "lexical", "resemantic", "insert", "delete", "restructure", "shuffle")
NEGATIONS = frozenset("not no never none nobody nothing nowhere neither nor without".split())
NUMBERS = frozenset(
    "one two three four five six seven eight nine ten eleven twelve dozen twenty thirty hundred thousand".split()
)
QUANTIFIERS = NUMBERS | frozenset(
    "some any many few several all most both each every half more fewer less least enough lots plenty couple "
    "everyone everybody everything someone somebody something anyone anybody anything".split()
)
AUXILIARIES = frozenset(
    "am is are was were be been being do does did have has had having will would shall should can could may might "
    "must".split()
)
CONJUNCTIONS = frozenset("and or but nor so yet if because although though while whereas unless whether when".split())
PREPOSITIONS = frozenset(
    "of in on at by for with from to into onto out off up down over under about above below after before between "
    "through during against among across along around behind beside near since toward towards until upon within".split()
)

Tags: TypeAlias = Mapping[int, str]  # the part of speech of some words, by their numbers
NO_TAGS: Tags = MappingProxyType({})

_DETERMINERS = frozenset("a an the this that these those of lot".split())  # change with a quantifier
_SUPPORT = AUXILIARIES | frozenset("a an any some ever anyone anybody anything anywhere either or and to".split())
_BESIDE_NEGATION = 2  # other words on either side that may change with a negation
_FEW_WORDS, _FEW_CHANGES = 3, 3
_LEAST_KEPT = 0.2  # of the shorter sentence, below which a change is no edit
_SKELETON = ("VERB", "AUX", "SCONJ", "CCONJ")
_FRAME = frozenset({"VERB", "AUX", "ADP", "PART"})

Block: TypeAlias = tuple[Sequence[PlainWord], Sequence[PlainWord]]


def detected_code(
    old: Sequence[str], new: Sequence[str], old_tags: Tags = NO_TAGS, new_tags: Tags = NO_TAGS
) -> str | None:
    """The control code of the edit from the old words to the new ones; None where it has none."""
    return _Difference(plain_words(old), plain_words(new), old_tags, new_tags).code


def changed_places(old: Sequence[str], new: Sequence[str]) -> tuple[list[int], list[int]]:
    """The numbers of the words that went, and of those that came, whose tags `detected_code` may want."""
    blocks = _Difference(plain_words(old), plain_words(new), NO_TAGS, NO_TAGS).blocks
    gone, come = ({word.place for block in blocks for word in block[side]} for side in (0, 1))
    return sorted(gone), sorted(come)


@dataclass(frozen=True)
class _Difference:
    """Two sentences in plain words, aligned."""

    old: Sequence[PlainWord]
    new: Sequence[PlainWord]
    old_tags: Tags
    new_tags: Tags

    @cached_property
    def sides(self) -> tuple[list[str], list[str]]:
        return [word for word, _ in self.old], [word for word, _ in self.new]

    @cached_property
    def blocks(self) -> list[Block]:
        """What went and what came, place by place."""
        before, after = self.sides
        codes = SequenceMatcher(None, before, after, autojunk=False).get_opcodes()
        return [(self.old[a:b], self.new[c:d]) for kind, a, b, c, d in codes if kind != "equal"]

    @cached_property
    def changed(self) -> tuple[list[str], list[str]]:
        """The words that went, and those that came, without what is on both sides: counted, not aligned."""
        before, after = map(Counter, self.sides)
        return list((before - after).elements()), list((after - before).elements())

    @property
    def code(self) -> str | None:
        before, after = self.sides
        if before == after or not before or not after:
            return None
        if not any(self.changed):
            return "shuffle"
        if len(before) - len(self.changed[0]) < _LEAST_KEPT * min(len(before), len(after)):
            return None
        if self._negates():
            return "negation"
        if self._counts():
            return "quantifier"
        if _is_within(before, after) or _is_within(after, before):
            return "insert" if len(after) > len(before) else "delete"
        return "lexical" if self._same_kinds() else "restructure" if self._rebuilt() else "resemantic"

    def _negates(self) -> bool:
        gone, come = self.changed
        if sum(word in NEGATIONS for word in gone) == sum(word in NEGATIONS for word in come):
            return False
        rest = [[stem(word) for word in side if word not in NEGATIONS | _SUPPORT] for side in (gone, come)]
        other = Counter(rest[0]) - Counter(rest[1]), Counter(rest[1]) - Counter(rest[0])
        return all(side.total() <= _BESIDE_NEGATION for side in other)

    def _counts(self) -> bool:
        gone, come = self.changed
        if not any(map(is_quantifier, (*gone, *come))):
            return False
        rest = [[stem(w) for w in side if not is_quantifier(w) and w not in _DETERMINERS] for side in (gone, come)]
        return sorted(rest[0]) == sorted(rest[1])

    def _same_kinds(self) -> bool:
        if any(len(gone) != len(come) for gone, come in self.blocks):
            return False
        pairs = [pair for gone, come in self.blocks for pair in zip(gone, come, strict=True)]
        return len(pairs) <= _FEW_WORDS and all(self._tag(one, 0) == self._tag(two, 1) for one, two in pairs)

    def _rebuilt(self) -> bool:
        gone, come = ([word for block in self.blocks for word in block[side]] for side in (0, 1))
        moved = {word for word, _ in gone} & {word for word, _ in come} - STOP_WORDS
        if moved or len(self.blocks) > _FEW_CHANGES:
            return True
        if self._skeleton(gone, 0) != self._skeleton(come, 1):
            return True
        return any(self._frames_differ(block) for block in self.blocks)

    def _skeleton(self, words: Iterable[PlainWord], side: int) -> Counter[str]:
        return Counter(tag for tag in (self._tag(word, side) for word in words) if tag in _SKELETON)

    def _frames_differ(self, block: Block) -> bool:
        """Whether verbs with their prepositions, and nothing else, gave way to others that are built in another way."""
        old, new = ([self._tag(word, side) for word in block[side]] for side in (0, 1))
        return old != new and all("VERB" in tags and _FRAME.issuperset(tags) for tags in (old, new))

    def _tag(self, word: PlainWord, side: int) -> str:
        own = (self.old_tags, self.new_tags)[side].get(word.place, "")
        return closed_tag(word.word, own) or own


def closed_tag(word: str, tag: str = "") -> str:
    """The part of speech of a word of a closed class; nothing for others. A verb may be spelt like an auxiliary."""
    if word in AUXILIARIES:
        return tag if tag in ("VERB", "NOUN") else "AUX"
    if word in CONJUNCTIONS:
        return tag if tag in ("SCONJ", "CCONJ") else "CCONJ" if word in ("and", "or", "but", "nor") else "SCONJ"
    return "ADP" if word in PREPOSITIONS and not tag else ""


def is_quantifier(word: str) -> bool:
    """Whether a plain word says how many."""
    return word in QUANTIFIERS or word.isdigit()


def _is_within(short: Sequence[str], long: Sequence[str]) -> bool:
    """Whether all words of one list stand in the other, in their order."""
    rest = iter(long)
    return all(word in rest for word in short)
