"""Readers of the published files: each returns plain rows, in file order, unfiltered."""

import csv
import json
import lzma
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

NLI_LABELS = ("entailment", "neutral", "contradiction")
BRACKETS = re.compile(r"\([0-4] |\)")
Labelled = tuple[tuple[str, ...], int]


def lines(path: Path) -> list[str]:
    """The lines of a text file, plain or xz."""
    opener: Any = lzma.open if path.suffix == ".xz" else open
    with opener(path, "rt", encoding="utf-8") as stream:
        return [line.rstrip("\n") for line in stream]


def sst2(data: Path, split: str) -> list[Labelled]:
    """GLUE SST-2, train or dev."""
    rows = (line.rsplit("\t", 1) for line in lines(data / "sst2" / f"{split}.tsv")[1:])
    return [((text.strip(),), int(label)) for text, label in rows]


def sst2_test_texts(data: Path) -> list[str]:
    """GLUE SST-2 test, which has no labels."""
    return [line.split("\t", 1)[1] for line in lines(data / "sst2" / "test.tsv")[1:]]


def sst_trees(data: Path, split: str) -> list[tuple[str, int]]:
    """Whole sentences of the treebank in lower case, as SST-2 writes them, with their label from 0 to 4."""
    return [(treebank_text(line), int(line[1])) for line in lines(data / "sst" / "trees" / f"{split}.txt")]


def treebank_text(tree: str) -> str:
    """The sentence under a bracketed tree."""
    words = BRACKETS.sub("", tree).lower()
    return words.replace("-lrb-", "(").replace("-rrb-", ")").replace("\\/", "/")


def sst_binary(data: Path, split: str) -> list[Labelled]:
    """The treebank's sentences without the neutral ones: 0 negative, 1 positive."""
    return [((text,), int(label > 2)) for text, label in sst_trees(data, split) if label != 2]


def snli(data: Path, split: str) -> list[Labelled]:
    """SNLI dev or test pairs."""
    premises, hypotheses, labels = (lines(data / "esnli" / f"{part}.{split}") for part in ("s1", "s2", "labels"))
    rows = zip(premises, hypotheses, labels, strict=True)
    return [((one.strip(), two.strip()), NLI_LABELS.index(label)) for one, two, label in rows]


def highlighted(data: Path) -> list[int]:
    """The rows of SNLI dev that carry human highlights."""
    return [json.loads(line)["snli_dev_line"] for line in lines(data / "esnli" / "dev_human_highlights_from_im.jsonl")]


def counterfactual_nli(data: Path, split: str) -> list[Labelled]:
    """Counterfactually augmented SNLI pairs, originals and revisions, made from SNLI's split of that name."""
    rows = (
        line.split("\t") for line in lines(data / "counterfactual_aug" / "NLI" / "all_combined" / f"{split}.tsv")[1:]
    )
    return [((one, two), NLI_LABELS.index(label)) for one, two, label in rows]


def snli_train_subset(data: Path) -> list[Labelled]:
    """Pairs of SNLI train: the part of it that is at hand."""
    rows = (line.split("\t") for line in lines(data / "snli_train_subset" / "snli.tsv.xz"))
    return [((row[2].strip(), row[3].strip()), NLI_LABELS.index(row[0])) for row in rows if row[0] in NLI_LABELS]


def mnli(data: Path) -> list[Labelled]:
    """MNLI validation pairs of five genres, without the spaces of the Penn Treebank's spelling."""
    rows = (line.split("\t") for line in lines(data / "mnli_nyu" / "mnli_val.tsv.xz")[1:])
    return [((untokenised(row[0]), untokenised(row[1])), NLI_LABELS.index(row[2])) for row in rows]


def untokenised(text: str) -> str:
    """Words and punctuation as people write them."""
    text = text.replace("``", '"').replace("''", '"').replace("-LRB-", "(").replace("-RRB-", ")")
    return re.sub(r"([(]) ", r"\1", re.sub(r" ([.,;:!?)]|n't\b|'(?:s|re|m|ve|ll|d)\b)", r"\1", text)).strip()


def hans(data: Path) -> dict[str, list[Labelled]]:
    """HANS pairs by heuristic and gold label; `non-entailment` is neutral or contradiction, here the former."""
    parts: dict[str, list[Labelled]] = {}
    for line in lines(data / "hans" / "hans_regenerated_eval.tsv.xz")[1:]:
        gold, one, two, _, heuristic = line.split("\t")[:5]
        name = f"HANS, {heuristic.replace('_', ' ')}, {'not ' if gold.startswith('non') else ''}entailed"
        parts.setdefault(name, []).append(((untokenised(one), untokenised(two)), int(gold.startswith("non"))))
    return parts


def ag_news(data: Path, split: str) -> list[Labelled]:
    """AG news, title and description in one text; a part of train, all of test."""
    if split == "train":
        rows = [json.loads(line) for line in lines(data / "ag_news" / "train_subset.jsonl")]
        return [((tidy_news(row["text"]),), row["label"]) for row in rows]
    with (data / "ag_news" / "test.csv").open(encoding="utf-8", newline="") as stream:
        return [((tidy_news(f"{title} {about}"),), int(label) - 1) for label, title, about in csv.reader(stream)]


def tidy_news(text: str) -> str:
    """News text without the remains of HTML escapes that the corpus carries."""
    return re.sub(r"\s+", " ", re.sub(r"&lt;.*?&gt;| ?#\d+;|\\", " ", text)).strip()


@dataclass(frozen=True)
class Question:
    """A SQuAD question: its answers are strings with the place of their first occurrence."""

    key: str
    question: str
    context: str
    answers: tuple[str, ...]


def squad(data: Path, split: str) -> list[Question]:
    """SQuAD 1.1 questions, train or dev."""
    whole = json.loads("\n".join(lines(data / "squad_v1.1" / f"{split}.json.xz")))
    return [question for article in whole["data"] for part in article["paragraphs"] for question in questions(part)]


def questions(part: dict[str, Any]) -> Iterator[Question]:
    """The questions of one paragraph."""
    for qa in part["qas"]:
        answers = tuple(answer["text"] for answer in qa["answers"])
        yield Question(qa["id"], qa["question"].strip(), part["context"], answers)


def imdb_train(data: Path) -> list[str]:
    """IMDb training reviews; the test reviews are never read here."""
    texts = (json.loads(line)["text"] for line in lines(data / "imdb" / "train.jsonl.xz"))
    return [re.sub(r"\s+", " ", text.replace("<br />", " ")) for text in texts]


def imdb_pairs(data: Path, split: str) -> list[tuple[str, str]]:
    """IMDb reviews and their revisions by people, which have the other label; made from IMDb's training reviews."""
    path = data / "counterfactual_aug" / "sentiment" / "combined" / "paired" / f"{split}_paired.tsv.xz"
    texts: dict[str, list[str]] = {}
    for row in csv.DictReader(lines(path), delimiter="\t"):
        texts.setdefault(row["batch_id"], []).append(re.sub(r"\s+", " ", row["Text"].replace("<br />", " ")).strip())
    return [(own[0], own[1]) for own in texts.values() if len(own) == 2]


def wikipedia(data: Path) -> list[str]:
    """Paragraphs of a sample of the English Wikipedia, headings left out."""
    return [line for line in lines(data / "wikipedia_en" / "enwiki_sample.txt.xz") if len(line) > 80]


def subjectivity(data: Path) -> list[str]:
    """Movie snippets and plot sentences in the style of SST (Pang and Lee 2004)."""
    with zipfile.ZipFile(data / "nltk_corpora" / "subjectivity.zip") as archive:
        parts = [archive.read(f"subjectivity/{name}.tok.gt9.5000") for name in ("quote", "plot")]
    return [line.strip() for part in parts for line in part.decode("latin-1").splitlines() if line.strip()]
