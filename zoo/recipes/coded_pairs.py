"""Pairs of sentences that differ by a small edit, with the control code of the edit: what writer:editor learns from.

People's edits (counterfactual NLI and IMDb), linked sentences (Tatoeba, QQP, MRPC, captions of one picture, hypotheses
of one premise), sentences that happen to differ in one place only (near_sentences), and edits made by a rule: a
negation, and a sentence without one of its phrases. The code of a pair is what `detected_code` says, with the most
frequent part of speech of every word in the English Web Treebank. The most frequent edits ("that" left out) are capped.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import islice, pairwise
from pathlib import Path

import clean
import numpy as np
from assay.text.capitals import written_like
from assay.text.chunks import chunks
from assay.text.coded_blanks import Blank, with_fills
from assay.text.control_codes import changed_places, detected_code
from assay.text.text import Text
from data import imdb_pairs, lines
from near_sentences import near_pairs
from paraphraser import overlap

Sentences = tuple[str, str]
Coded = tuple[str, str, str]  # the code, a sentence, and the sentence that it becomes
WANTED = {
    "negation": 12_000,
    "quantifier": 10_000,
    "lexical": 14_000,
    "resemantic": 14_000,
    "insert": 10_000,
    "restructure": 10_000,
}
SAME_EDIT = {"negation": 1500, "quantifier": 120}  # pairs with the same words gone and come, at most
SAME_OTHER_EDIT = 25
EXAMINED = 160_000  # pairs whose code is asked for
SHARED, LONGEST = 0.35, 45  # of the words of linked sentences, at least; words of a sentence, at most
TATOEBA = 20_000  # of its pairs; they are short, and much alike
RULED = 16_000  # sentences that are changed by a rule
COUNTS = 0.4  # of the sentences with a number, another number is put in
MANY = ("two", "three", "four", "five", "six", "ten", "several", "many", "some", "a few", "all", "most")
WHOLE = {"everyone": "someone", "everybody": "somebody", "everything": "something"}
COUNTED = re.compile(
    rf"\b(two|three|four|five|six|several|many|{'|'.join([*WHOLE, *WHOLE.values()])})\b", re.IGNORECASE
)
SENTENCE = re.compile(r"(?<=[.!?])\s+")
NEGATED = re.compile(r"\b(is|are|was|were|can|will|could|would|should|has|had)\b(?! (?:not|never|no)\b)(?=\s+\w)")


def coded_pairs(data: Path, seed: int) -> list[Coded]:
    """As many pairs of each code as are wanted, in random order; edits by people are taken first."""
    rng = np.random.default_rng(seed)
    tags, known, found = tag_lexicon(data), Counter[object](), defaultdict[str, list[Coded]](list)
    for one, two in islice(dict.fromkeys(examined(data, rng)), EXAMINED):
        code, edit = code_of(one, two, tags)
        if code not in WANTED or len(found[code]) >= WANTED[code]:
            continue
        if known[edit] < SAME_EDIT.get(code, SAME_OTHER_EDIT):
            known[edit] += 1
            found[code].append((code, one, two))
    coded = [pair for code in WANTED for pair in found[code]]
    return [coded[i] for i in rng.permutation(len(coded))]


def examined(data: Path, rng: np.random.Generator) -> list[Sentences]:
    """Pairs of every source, those of people in both directions."""
    revised = [*revised_hypotheses(data), *revised_reviews(data)]
    others = [pair for source in sources(data, rng) for pair in source]
    return [*revised, *((two, one) for one, two in revised), *(others[i] for i in rng.permutation(len(others)))]


def code_of(one: str, two: str, tags: dict[str, str]) -> tuple[str | None, object]:
    """The code of an edit, and the words that went and came."""
    old, new = Text.of(one).words, Text.of(two).words
    gone, come = changed_places(old, new)
    code = detected_code(old, new, {i: tag(old[i], tags) for i in gone}, {i: tag(new[i], tags) for i in come})
    return code, (tuple(old[i].lower() for i in gone), tuple(new[i].lower() for i in come))


def sources(data: Path, rng: np.random.Generator) -> Iterator[list[Sentences]]:
    """Pairs that nobody revised: linked sentences, neighbours, a negation more or less, a phrase more."""
    tatoeba = [line.split("\t") for line in lines(data / "tatoeba_eng_eng" / "pairs.tsv.xz")]
    few = [tatoeba[i] for i in rng.permutation(len(tatoeba))[:TATOEBA]]
    yield [either_way(pair, rng) for pair in linked_sentences(data, few)]
    pool = sorted(plain_sentences(data, few))
    yield [either_way(pair, rng) for pair in near_pairs(pool, 0)]
    chosen = [pool[i] for i in rng.permutation(len(pool))[:RULED]]
    yield [either_way(pair, rng) for one in chosen for pair in negated(one, rng)]
    yield [pair for one in pool for pair in recounted(one, rng) if rng.random() < COUNTS]
    longer = long_sentences(data)
    longer = [longer[i] for i in rng.permutation(len(longer))[:RULED]]
    yield [pair for one in [*chosen[: RULED // 4], *longer] for pair in with_a_phrase_more(one, rng)]


def either_way(pair: Sentences, rng: np.random.Generator) -> Sentences:
    """The pair, or the way back."""
    return pair if rng.random() < 0.5 else pair[::-1]


def linked_sentences(data: Path, tatoeba: Sequence[Sequence[str]]) -> list[Sentences]:
    """Sentences that somebody wrote for the same, close enough to be edits of each other."""
    pairs = [tuple(row) for row in tatoeba]
    for folder, file in (("qqp", "qqp.tsv.xz"), ("mrpc", "train.tsv.xz")):
        rows = [line.split("\t") for line in lines(data / folder / file)]
        pairs += [(row[1], row[2]) for row in rows if row[0] == "1"]
    captions = [line.split("\t") for line in lines(data / "multi30k" / "task2_train.5captions.en.tsv.xz")]
    pairs += [(row[i], row[i + 1]) for row in captions for i in range(len(row) - 1)]
    pairs += same_premise(data)
    return [(pair[0], pair[1]) for pair in pairs if len(pair) == 2 and overlap(*pair) > SHARED and short(*pair)]


def same_premise(data: Path) -> list[Sentences]:
    """Hypotheses of one premise, one after the other."""
    own: dict[str, list[str]] = defaultdict(list)
    for (premise, hypothesis), _ in snli_subset(data):
        own[premise].append(hypothesis)
    return [pair for some in own.values() for pair in pairwise(some)]


def revised_hypotheses(data: Path) -> list[Sentences]:
    """Hypotheses and their revisions by people, of pairs from SNLI train."""
    first, second = (
        [line.split("\t") for line in lines(data / "counterfactual_aug" / "NLI" / kind / "train.tsv")[1:]]
        for kind in ("original", "revised_hypothesis")
    )
    of = {premise: hypothesis for premise, hypothesis, _ in first}
    return [(of[premise], revised) for premise, revised, _ in second if premise in of and of[premise] != revised]


def revised_reviews(data: Path) -> list[Sentences]:
    """Sentences of IMDb training reviews, and what they became; none that quotes a dev or test sentence of SST."""
    allowed = clean.shares_no_run_with(clean.heldout_sst(data))
    found = []
    for one, two in imdb_pairs(data, "train"):
        others = SENTENCE.split(two)
        known = set(others)
        for sentence in SENTENCE.split(one):
            if sentence not in known and (best := max(others, key=lambda other: overlap(sentence, other))):
                found.append((sentence, best))
    return [p for p in found if overlap(*p) > 0.5 and short(*p) and all(map(allowed, p)) and "<" not in "".join(p)]


def plain_sentences(data: Path, tatoeba: Sequence[Sequence[str]]) -> set[str]:
    """Sentences for which neighbours are looked for."""
    found = {side for row in tatoeba for side in row}
    captions = lines(data / "multi30k" / "task2_train.5captions.en.tsv.xz")
    found |= {caption for line in captions for caption in line.split("\t")}
    found |= {text for texts, _ in snli_subset(data) for text in texts}
    found |= {texts[0] for texts, _ in clean.sst2_train(data)}
    return {" ".join(text.split()) for text in found if short(text)}


def long_sentences(data: Path) -> list[str]:
    """Sentences of news and of reviews."""
    allowed = clean.shares_no_run_with(clean.heldout_sst(data))
    texts = [texts[0] for texts, _ in clean.read.ag_news(data, "train")]
    texts += [one for one, _ in imdb_pairs(data, "train") if allowed(one)]
    return [one for text in texts for one in SENTENCE.split(text) if len(one.split()) > 8 and short(one)]


def negated(sentence: str, rng: np.random.Generator) -> Iterator[Sentences]:
    """The sentence with a negation behind one of its auxiliaries."""
    places = list(NEGATED.finditer(sentence))
    if places:
        place = places[int(rng.integers(len(places)))].end()
        yield sentence, f"{sentence[:place]} {'never' if rng.random() < 0.1 else 'not'}{sentence[place:]}"


def recounted(sentence: str, rng: np.random.Generator) -> Iterator[Sentences]:
    """The sentence with another number or quantifier in the place of the first that it has."""
    if (found := COUNTED.search(sentence)) is None:
        return
    old = found[0].lower()
    pairs = WHOLE | {some: every for every, some in WHOLE.items()}
    new = pairs.get(old) or str(rng.choice([many for many in MANY if many != old]))
    yield sentence, sentence[: found.start()] + written_like(new, found[0]) + sentence[found.end() :]


def with_a_phrase_more(sentence: str, rng: np.random.Generator) -> Iterator[Sentences]:
    """The sentence without one of its phrases, and the whole."""
    text = Text.of(sentence)
    phrases = [run for run in chunks(text.words)[1:] if any(text.words[i].isalnum() for i in run) and len(run) <= 5]
    if len(phrases) > 1:
        run = phrases[int(rng.integers(len(phrases)))]
        yield with_fills(text, [Blank(run.start, run.stop)], [""]), sentence


@cache
def snli_subset(data: Path) -> list[tuple[Sentences, str]]:
    """Pairs of SNLI train with the name of their label; none of these premises is held out."""
    held = clean.not_equal_to(texts[0] for texts, _ in clean.both_clean(data))
    rows = clean.read.snli_train_subset(data)
    return [((texts[0], texts[1]), clean.read.NLI_LABELS[label]) for texts, label in rows if held(texts[0])]


@cache
def tag_lexicon(data: Path) -> dict[str, str]:
    """The most frequent part of speech of each word of the English Web Treebank."""
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for line in lines(data / "ud_english_ewt" / "en_ewt-ud-train.conllu.xz"):
        columns = line.split("\t")
        if len(columns) > 3 and columns[0].isdigit():
            counts[columns[1].lower()][columns[3]] += 1
    return {word: own.most_common(1)[0][0] for word, own in counts.items()}


def tag(word: str, tags: dict[str, str]) -> str:
    """The part of speech of a word, guessed from its ending where the treebank does not have it."""
    word = word.lower()
    known = "NUM" if word.isdigit() else tags.get(word)
    return known or ("VERB" if word.endswith(("ing", "ed")) else "ADV" if word.endswith("ly") else "NOUN")


def short(*texts: str) -> bool:
    """Whether the sentences are not too long, and have none of the editor's own signs."""
    return all(3 <= len(text.split()) <= LONGEST and "|" not in text and "[" not in text for text in texts)
