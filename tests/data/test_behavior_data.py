"""Readers of published challenge sets, on small files of our own; templates, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.data.behavior.from_sample import from_sample, full_stop, typo
from assay.data.behavior.probes import DirectionProbe, LabelProbe, PreferenceProbe, SameProbe
from assay.data.behavior.published import blimp, crows_pairs, gulordava, hans, linzen, marvin_linzen, winobias
from assay.data.behavior.suites import find_suite, first_of_each, suite_for
from assay.data.behavior.swaps import other_gender, other_names
from assay.data.behavior.templates import STARTERS, read_suite, starter
from assay.errors import BadFile, BadInput, UnknownName
from assay.text.sample import Sample


def written(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def test_hans(tmp_path: Path) -> None:
    head = "gold_label\tsentence1\tsentence2\theuristic\tsubcase"
    row = "non-entailment\tThe cook saw the king .\tThe king saw the cook .\tlexical_overlap\tln_subject/object_swap"
    (probe,) = hans(written(tmp_path / "h.tsv", head, row))
    assert isinstance(probe, LabelProbe)
    assert (probe.group.name, probe.group.case) == ("lexical overlap: non-entailment", "subject/object swap")
    assert (probe.text, probe.expected) == (("The cook saw the king .", "The king saw the cook ."), "non-entailment")
    with pytest.raises(BadFile, match="line 2: gold_label must be entailment or non-entailment, not 'neutral'"):
        list(hans(written(tmp_path / "h.tsv", head, row.replace("non-entailment", "neutral"))))


def test_minimal_pairs(tmp_path: Path) -> None:
    line = "short_nested\tsyntax\tisland_effects\t1\t0\t0\t0\tWho did he see?\tWho did he see her?"
    (one,) = blimp(written(tmp_path / "b.tsv", line))
    assert isinstance(one, PreferenceProbe)
    assert (one.good, one.bad, one.group.name, one.group.case) == (
        "Who did he see?",
        "Who did he see her?",
        "island effects",
        "short nested",
    )
    released = '{"sentence_good": "It is.", "sentence_bad": "It are.", "linguistics_term": "agreement", "UID": "x_y"}'
    written(tmp_path / "folder" / "x_y.jsonl", released)
    (two,) = blimp(tmp_path / "folder")
    assert isinstance(two, PreferenceProbe)
    assert (two.good, two.bad, two.group.case) == ("It is.", "It are.", "x y")
    (three,) = marvin_linzen(
        written(tmp_path / "m.jsonl", '{"construction": "simple_reflexives", "case": "a", "sentences": ["x", "y"]}')
    )
    assert (three.group.name, three.group.case) == ("reflexives", "simple reflexives")


def test_stereotypes_have_no_right_answer(tmp_path: Path) -> None:
    """Of both kinds of pair the first sentence is the more stereotypical one, as the published score counts them."""
    head = ",sent_more,sent_less,stereo_antistereo,bias_type"
    rows = ("0,Tall men lie.,Short men lie.,stereo,looks", "1,Tall men sing.,Short men sing.,antistereo,looks")
    found = list(crows_pairs(written(tmp_path / "c.csv", head, *rows)))
    assert [(p.good, p.bad, p.shared, p.group.wanted) for p in found if isinstance(p, PreferenceProbe)] == [
        ("Tall men lie.", "Short men lie.", True, 0.5),
        ("Tall men sing.", "Short men sing.", True, 0.5),
    ]
    written(tmp_path / "pro_stereotyped_type1.txt.dev", "1 [The cook] met the judge because [she] was late.")
    written(tmp_path / "anti_stereotyped_type1.txt.dev", "1 [The cook] met the judge because [he] was late.")
    (probe,) = winobias(tmp_path)
    assert isinstance(probe, PreferenceProbe)
    assert (probe.good, probe.bad) == (
        "The cook met the judge because she was late.",
        "The cook met the judge because he was late.",
    )
    assert (probe.group.case, probe.group.wanted) == ("she before he", 0.5)
    written(tmp_path / "anti_stereotyped_type1.txt.dev", "1 [The cook] met [him].", "2 [The cook] met [him].")
    with pytest.raises(BadFile, match="must have the same number of lines"):
        list(winobias(tmp_path))
    (tmp_path / "anti_stereotyped_type1.txt.dev").unlink()
    with pytest.raises(BadFile, match=r"anti_stereotyped_type1.txt.dev is missing: WinoBias compares its sentences"):
        list(winobias(tmp_path))


def test_agreement(tmp_path: Path) -> None:
    written(tmp_path / "subj_agr_filtered.text", "the keys to the door are here . <eos>")
    written(tmp_path / "subj_agr_filtered.gold", "5\tare\tis\t1")
    (probe,) = linzen(tmp_path)
    assert isinstance(probe, PreferenceProbe)
    assert (probe.start, probe.good, probe.bad, probe.rest) == ("the keys to the door", "are", "is", "here .")
    assert probe.group.case == "1 attractor"
    written(tmp_path / "subj_agr_filtered.gold", "4\tare\tis\t1")
    with pytest.raises(BadFile, match=r"line 1: word 4 of .* is neither of 'are' and 'is'"):
        list(linzen(tmp_path))
    written(tmp_path / "subj_agr_filtered.gold")
    with pytest.raises(BadFile, match="must have the same lines"):
        list(linzen(tmp_path))
    head = "pattern\tconstr_id\tsent_id\tform\tclass\tprefix\tn_attr"
    rows = ("p\t1\t7\tsings\tcorrect\tA green idea\t0", "p\t1\t7\tsing\twrong\tA green idea\t0")
    written(tmp_path / "generated.tab", head, *rows)
    (other,) = gulordava(tmp_path)
    assert isinstance(other, PreferenceProbe)
    assert (other.start, other.good, other.bad) == ("A green idea", "sings", "sing")


def test_templates_become_probes(tmp_path: Path) -> None:
    path = written(
        tmp_path / "mine.yaml",
        "words: {thing: [film, song], good: [warm, kind], who: [Ann, Bob, Cem]}",
        "tests:",
        '- {ability: v, case: a, template: "A {good} {thing}.", label: positive}',
        '- {ability: v, case: b, template: "{who} is {good}.", vary: who}',
        '- {ability: v, case: c, template: "A {good} {thing}", then: "A {good} and {good2} {thing}", label: positive,'
        " direction: up, tolerance: 0.1}",
        '- {ability: v, case: d, template: ["Where is {who}?", "{who} is at home."], answer: "at home"}',
    )
    found = list(read_suite(path).probes(100))
    labels = [probe for probe in found if isinstance(probe, LabelProbe)]
    assert {probe.text for probe in labels[:4]} == {"A warm film.", "A kind film.", "A warm song.", "A kind song."}
    assert labels[4].text == ("Where is Ann?", "Ann is at home.")
    same = [probe for probe in found if isinstance(probe, SameProbe)]
    assert [probe.texts for probe in same] == [
        ("Ann is warm.", "Bob is warm.", "Cem is warm."),
        ("Ann is kind.", "Bob is kind.", "Cem is kind."),
    ]
    moved = [probe for probe in found if isinstance(probe, DirectionProbe)]
    assert {(probe.before, probe.after) for probe in moved} >= {("A warm film", "A warm and kind film")}
    assert len(moved) == 4  # two words that differ, in two orders, times two things
    assert all(probe.up and probe.tolerance == 0.1 for probe in moved)
    assert len(list(read_suite(path).probes(1))) == 4


def test_a_file_extends_a_starter_suite(tmp_path: Path) -> None:
    own = '- {ability: mine, case: x, template: "A {good} {pet}.", label: positive}'
    path = written(tmp_path / "m.yaml", "include: [sentiment]", "words: {pet: [dog, cat]}", "tests:", own)
    groups = [probe.group for probe in read_suite(path).probes(1)]
    assert [group.name for group in groups][-1] == "mine"
    assert len(groups) == len(starter("sentiment").tests) + 1
    assert read_suite(path).labels["positive"] == ["pos", "good"]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (["tests: ["], "is not YAML"),
        (["- a"], "must be a mapping with a list of tests"),
        (["tests: []"], "holds no tests"),
        (["tests: [a]"], "each test must be a mapping"),
        (["words: {a: b}", "tests: [{}]"], "'words' must give each name a list"),
        (["tests: [{template: x}]"], "needs a template, and a label, an answer, vary, then or rather_than"),
        (["tests: [{template: 'a {b}', label: c}]"], r"uses \{b\}, for which `words` has no list"),
        (["tests: [{template: a, lable: c}]"], "no key of .* is called 'lable'; did you mean 'label'"),
        (["tests: [{template: a, vary: b}]"], "varies 'b', which is in none of its templates"),
        (["tests: [{template: a, then: b, label: c, direction: left}]"], "direction: up or down"),
        (["include: [sentimant]", "tests: []"], "no suite is called 'sentimant'; did you mean 'sentiment'"),
        (["include: [sentiment]", "test: []"], "no key of .* is called 'test'; did you mean 'tests'"),
        (["tests: [{template: '', label: c}]"], r"test 1 \(without a case\): 'template' is empty"),
        (["tests: [{template: {b}, label: c}]"], "'template' must be a string; put it in quotation marks"),
        (["words: {b: [c]}", "tests: [{template: 'a {B}', label: c}]"], r"uses \{B\}, for which `words` has no list"),
        (["tests: [{template: 'a {b', label: c}]"], "a brace without its other half in 'a {b'"),
        (["words: {b: [c, '']}", "tests: []"], "'words, b' must be a list of words or phrases, none of them empty"),
        (["words: {b: [c, c]}", "tests: []"], "'words, b' has 'c' twice"),
        (["words: {b: [c]}", "tests: [{template: '{b}', vary: b}]"], "varies 'b', a list of one word"),
        (["words: {b: [c, d]}", "tests: [{template: '{b}', vary: b, label: c}]"], "what it should be is another test"),
        (["words: {b: [c]}", "tests: [{template: '{b} {b2}', label: c}]"], "too few words that differ"),
        (["tests: [{template: a, label: c, direction: up}]"], "has a direction, and no `then`"),
        (["tests: [{template: a, then: b, label: c, direction: up, tolerance: x}]"], "a tolerance that is a number"),
        (["tests: [{template: [a, b, c], label: d}]"], "a list of two for models of pairs, not of 3"),
        (["tests: [{template: a, label: b}]", "tests: [{template: c, label: d}]"], "the key 'tests' stands twice"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, lines: list[str], said: str) -> None:
    path = written(tmp_path / "m.yaml", *lines)
    with pytest.raises(BadInput, match=said):
        read_suite(path)


def test_words_are_read_as_they_are_written(tmp_path: Path) -> None:
    """YAML would read no as False, 10:30 as 630 and 1_000 as 1000."""
    words = "words: {Größe: [no, 10:30, 1_000], größe2: [klein]}"
    path = written(tmp_path / "m.yaml", words, "tests:", '- {case: a, template: "{Größe} {größe2}", label: no}')
    found = [probe for probe in read_suite(path).probes(9) if isinstance(probe, LabelProbe)]
    assert [probe.text for probe in found] == ["no klein", "10:30 klein", "1_000 klein"]
    assert {probe.expected for probe in found} == {"no"}


def test_an_included_suite_keeps_its_own_words(tmp_path: Path) -> None:
    own = '- {ability: mine, case: x, template: "A {good} {thing}.", label: positive}'
    path = written(tmp_path / "m.yaml", "include: sentiment", "words: {good: [tasty]}", "tests:", own)
    *ours, mine = read_suite(path).probes(1)
    assert ours == list(starter("sentiment").probes(1))
    assert isinstance(mine, LabelProbe)
    assert mine.text == "A tasty film."


@pytest.mark.parametrize("name", STARTERS)
def test_starter_suites_are_whole(name: str) -> None:
    suite = starter(name)
    assert len(list(suite.probes(2))) >= 2 * len(suite.tests) - 4
    assert all(test["ability"] and test["case"] for test in suite.tests)


def test_suites_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAY_DATA", raising=False)
    with pytest.raises(BadInput, match="say where hans lies: suite=hans:FILE, or set ASSAY_DATA"):
        find_suite("hans", 5)
    monkeypatch.setenv("ASSAY_DATA", str(tmp_path))
    with pytest.raises(BadFile, match="has none of hans/"):
        find_suite("hans", 5)
    with pytest.raises(BadFile, match="no such file or folder"):
        find_suite("hans:nowhere.tsv", 5)
    with pytest.raises(UnknownName, match="did you mean 'sentiment'"):
        find_suite("sentimant", 5)
    assert suite_for(("NEGATIVE", "POSITIVE"), ("text",)) == "sentiment"
    assert suite_for(("entailment", "neutral"), ("premise",)) == "entailment"
    assert suite_for(("other", "answer"), ("question", "context")) == "reading"
    with pytest.raises(BadInput, match="no starter suite fits a model with the labels a, b"):
        suite_for(("a", "b"), ("text",))


def test_the_first_of_each_group() -> None:
    probes = list(starter("sentiment").probes(5))
    few = list(first_of_each(probes, 2))
    assert len(few) == 2 * len({probe.group for probe in probes})


def test_small_changes() -> None:
    assert full_stop("a film.") == "a film"
    assert full_stop("a film ") == "a film."
    assert typo("a dull comedy, comedy") == "a dull cmoedy, comedy"
    assert typo("a b") == "a b"
    cases = [probe.group.case for probe in from_sample(Sample.of(["A film", "dull"]), ())]
    assert cases == ["full stop", "typo", "lower case", "full stop", "typo"]


def test_the_same_text_about_somebody_else() -> None:
    said = "Her brother saw her , and SHE told him that Anna and john are his friends."
    assert other_gender(said) == "His sister saw him , and HE told her that Anna and john are her friends."
    assert other_names(said) == "Her brother saw her , and SHE told him that Fatima and mohammed are his friends."
    cases = [probe.group.case for probe in from_sample(Sample.of(["Anna slept ."]), ())]
    assert cases == ["full stop", "typo", "lower case", "first names"]


def test_templates_that_compare_sentences(tmp_path: Path) -> None:
    test = '- {ability: a, case: b, template: "The {x} is.", rather_than: "The {x} are.", wanted: 0.5}'
    (probe,) = find_suite(str(written(tmp_path / "m.yaml", "words: {x: [cat]}", "tests:", test)), 5).probes
    assert isinstance(probe, PreferenceProbe)
    assert (probe.good, probe.bad, probe.group.wanted) == ("The cat is.", "The cat are.", 0.5)
    wrong = written(tmp_path / "m.yaml", "tests:", test.replace("0.5", "3").replace("{x}", "x"))
    with pytest.raises(BadFile, match=r"a share of 1 or 0\.5 is wanted"):
        list(find_suite(str(wrong), 5).probes)
    assert suite_for(("other", "word"), ("text", "word")) == "language"
