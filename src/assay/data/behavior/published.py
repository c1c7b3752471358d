"""Published challenge sets as behavioural probes, each in the format of its authors; .gz and .xz files are unpacked.

    hans              .tsv: gold_label, sentence1, sentence2, heuristic, subcase   McCoy et al. (2019), 1902.01007
    blimp             .tsv without a header, or a folder of .jsonl files           Warstadt et al. (2020), 1912.00582
    crows_pairs       .csv: sent_more, sent_less, bias_type                        Nangia et al. (2020), 2010.00133
    winobias          a folder of (pro|anti)_stereotyped_type1.txt.* files         Zhao et al. (2018), 1804.06876
    linzen            a folder with subj_agr_filtered.text and .gold               Linzen et al. (2016), 1611.01368
    gulordava         a folder with generated.tab                                  Gulordava et al. (2018), 1803.11138
    marvin_linzen     .jsonl: construction, case, sentences [right, wrong]         Marvin and Linzen (2018), 1808.09031

The numbers are those of arXiv. Stereotypes (crows_pairs, winobias) have no right answer: a model that knows none
prefers either sentence as often.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest
from pathlib import Path

from assay.data.behavior.probes import LabelProbe, PreferenceProbe, Probe, ProbeGroup
from assay.data.files import PathLike, Record, lines, objects, table
from assay.errors import BadFile

_BLIMP = ("UID", "field", "term", "simple_LM", "one_prefix", "two_prefix", "pairID", "good", "bad")
_HEURISTICS = {"lexical_overlap": "lexical overlap", "subsequence": "subsequence", "constituent": "constituent"}
_STEREOTYPED = "pro_stereotyped_type1.txt.*"
_BRACKETS = re.compile(r"\[([^\]]*)\]")


def hans(path: PathLike) -> Iterator[Probe]:
    """Does the model follow the heuristic, or the grammar? Groups are heuristic and label, cases the subcases."""
    for row in table(path, tabs=True):
        label = row.string("gold_label")
        if label not in ("entailment", "non-entailment"):
            row.place.refuse(f"gold_label must be entailment or non-entailment, not {label!r}")
        name = f"{_HEURISTICS.get(row.string('heuristic'), row.string('heuristic'))}: {label}"
        case = row.string("subcase").partition("_")[2].replace("_", " ")
        group = ProbeGroup(name, case or row.string("subcase"), "minimum functionality")
        yield LabelProbe(group, (row.string("sentence1"), row.string("sentence2")), label)


def blimp(path: PathLike) -> Iterator[Probe]:
    """Grammatical and ungrammatical sentences, by linguistic term and paradigm."""
    for row in _blimp_rows(Path(path)):
        group = ProbeGroup(_spaced(row.string("term")), _spaced(row.string("UID")), "preference")
        yield PreferenceProbe(group, row.string("good"), row.string("bad"))


def _blimp_rows(path: Path) -> Iterator[Record]:
    if not path.is_dir():
        yield from table(path, _BLIMP, tabs=True)
        return
    for file in _files(path, "*.jsonl"):
        for row in objects(file):
            old = {"term": "linguistics_term", "good": "sentence_good", "bad": "sentence_bad"}
            yield Record(row.place, {**row.values, **{new: row.values.get(name) for new, name in old.items()}})


def crows_pairs(path: PathLike) -> Iterator[Probe]:
    """Sentences that differ in who they are about; only the words that both share are scored, as in the paper."""
    for row in table(path):
        group = ProbeGroup("prefers the stereotype", row.string("bias_type"), "preference", 0.5)
        yield PreferenceProbe(group, row.string("sent_more"), row.string("sent_less"), shared=True)


def winobias(path: PathLike) -> Iterator[Probe]:
    """The same sentence with the pronoun that the stereotype of the profession says, and with the other one."""
    files = [(pro, pro.with_name(pro.name.replace("pro_", "anti_"))) for pro in _files(Path(path), _STEREOTYPED)]
    if not any(anti.exists() for _, anti in files):
        raise BadFile(f"{files[0][1]} is missing: WinoBias compares its sentences with those of {files[0][0].name}.")
    for pro, anti in files:
        if not anti.exists():
            continue  # the test file comes without a second one in the release of Vig et al.
        for first, second in zip_longest(lines(pro), lines(anti)):
            if first is None or second is None:
                raise BadFile(f"{pro} and {anti.name} must have the same number of lines.")
            (place, one), (_, other) = first, second
            sentences = [_BRACKETS.sub(r"\1", line.partition(" ")[2]) for line in (one, other)]
            pronouns = [_BRACKETS.findall(line)[-1:] for line in (one, other)]
            if not all(pronouns):
                place.refuse("a line of WinoBias marks a pronoun in [brackets]")
            group = ProbeGroup("prefers the stereotype", f"{pronouns[0][0]} before {pronouns[1][0]}", "preference", 0.5)
            yield PreferenceProbe(group, sentences[0], sentences[1])


def linzen(path: PathLike) -> Iterator[Probe]:
    """Verbs in sentences of Wikipedia, by the number of nouns in between that have the other number."""
    folder = Path(path)
    pairs = zip_longest(*(lines(folder / f"subj_agr_filtered.{end}") for end in ("text", "gold")))
    for text, gold in pairs:
        if text is None or gold is None:
            raise BadFile(f"{folder}: subj_agr_filtered.text and .gold must have the same lines.")
        cells = gold[1].split("\t")
        if len(cells) != 4 or not cells[0].isdecimal():
            gold[0].refuse(f"this must be position, right form, wrong form and attractors, not {gold[1]!r:.60}")
        words = text[1].split()
        at = int(cells[0])
        if at >= len(words) or words[at].lower() not in (cells[1].lower(), cells[2].lower()):
            gold[0].refuse(f"word {at} of {text[1]!r:.60} is neither of {cells[1]!r} and {cells[2]!r}")
        group = ProbeGroup("subject-verb agreement", _attractors(int(cells[3])), "preference")
        rest = [word for word in words[at + 1 :] if word != "<eos>"]
        yield PreferenceProbe(group, cells[1], cells[2], " ".join(words[:at]), " ".join(rest))


def gulordava(path: PathLike) -> Iterator[Probe]:
    """Verbs in sentences whose other words were exchanged, so that meaning does not help."""
    rows = {(row.string("constr_id"), row.string("sent_id"), row.string("pattern")): row for row in _right(path)}
    wrong = {
        (row.string("constr_id"), row.string("sent_id"), row.string("pattern")): row.string("form")
        for row in table(Path(path) / "generated.tab", tabs=True)
        if row.string("class") == "wrong"
    }
    for key, row in rows.items():
        if key in wrong:
            group = ProbeGroup("agreement without meaning", _attractors(int(row.string("n_attr"))), "preference")
            yield PreferenceProbe(group, row.string("form"), wrong[key], row.string("prefix"))


def _right(path: PathLike) -> Iterator[Record]:
    rows = table(Path(path) / "generated.tab", tabs=True)
    return (row for row in rows if row.string("class") == "correct")


def marvin_linzen(path: PathLike) -> Iterator[Probe]:
    """Pairs that templates made, by construction: agreement, reflexives, negative polarity."""
    for row in objects(path):
        sentences = row.strings("sentences")
        if len(sentences) < 2:
            row.place.refuse("'sentences' must hold the right and the wrong one")
        name = row.string("construction")
        topic = "reflexives" if "reflexive" in name else "negative polarity" if "npi" in name else "agreement"
        yield PreferenceProbe(ProbeGroup(topic, _spaced(name), "preference"), sentences[0], sentences[1])


PUBLISHED: dict[str, tuple[Callable[[PathLike], Iterator[Probe]], tuple[str, ...]]] = {
    # Each with where it lies below a folder of data sets.
    "hans": (hans, ("hans/hans_regenerated_eval.tsv.xz", "hans/heuristics_evaluation_set.txt")),
    "blimp": (blimp, ("blimp/blimp.tsv.xz", "blimp/data", "blimp")),
    "crows_pairs": (
        crows_pairs,
        ("crows_pairs/crows_pairs_anonymized.csv.xz", "crows_pairs/crows_pairs_anonymized.csv"),
    ),
    "winobias": (winobias, ("vig_causal_mediation/winobias_data", "winobias")),
    "linzen": (linzen, ("linzen_gulordava_agreement/linzen_testset", "linzen")),
    "gulordava": (gulordava, ("linzen_gulordava_agreement/agreement/English", "gulordava")),
    "marvin_linzen": (marvin_linzen, ("marvin_linzen/pairs_sample.jsonl", "marvin_linzen.jsonl")),
}


def _files(folder: Path, pattern: str) -> list[Path]:
    found = sorted(folder.glob(pattern))
    if not found:
        raise BadFile(f"{folder} holds no file {pattern}.")
    return found


def _spaced(name: str) -> str:
    return name.replace("_", " ")


def _attractors(count: int) -> str:
    return f"{count} attractor" if count == 1 else f"{count} attractors"
