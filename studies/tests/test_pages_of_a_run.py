"""Sentences of a page that depend on the run: they are made of its facts, and outlive none of them."""

from __future__ import annotations

from assay.statistics.intervals import Estimate
from assay_studies.attention_is_not_not_explanation import page as second_attention
from assay_studies.double_trouble import page as double_trouble
from assay_studies.kept import Kept
from assay_studies.pathologies import page as pathologies
from assay_studies.tables import Cell, Line, Table


def of(facts: dict[str, str], *earlier: dict[str, str]) -> Kept:
    return Kept({}, {}, facts, earlier=earlier)


def test_how_much_drqa_learned_from_is_that_of_the_run_that_trained_it() -> None:
    with_reader = {"Sizes": "snli 0, squad 500, drqa_train 87,599, drqa_epochs 4, mend_squad 0"}
    without = {"Sizes": "snli 1,000, squad 500, drqa_train 0, drqa_epochs 6"}
    for kept in (of(with_reader), of(without, with_reader)):
        assert "DrQA is trained on 87,599 of SQuAD's 87,599 questions, 4 times each." in pathologies.PAGE.of_run(kept)
    assert any("10,000" in one for one in pathologies.PAGE.of_run(of(without)))  # that of the page's first run


def test_how_good_the_reader_of_multirc_is_comes_from_the_facts() -> None:
    told = {"MultiRC": "100 texts by the model multirc; 67.1% of 1,234 texts of dev, the commonest label 58.1%"}
    for kept in (of(told), of({}, told)):
        assert "right on 67.1% of 1,234 answers of dev, the commonest label is 58.1%;" in double_trouble._multirc(kept)
    assert "right on 65.3% of 2,500 answers of dev, the commonest label is 57.2%;" in double_trouble._multirc(of({}))


def test_signs_are_told_as_the_table_has_them() -> None:
    def a5(*lines: Line) -> Kept:
        return Kept({"table_a5": Table("table_a5", "", ("SST-2", "e-SNLI"), lines)}, {}, {})

    def line(words: str, value: float) -> Line:
        return Line(f"LOO_empty: {words}", (Cell(Estimate(value, value - 1, value + 1, 200)), Cell()))

    mean = line("per cent of words that change sign", 62.8)
    told = double_trouble._signs(
        a5(mean, line("the same, draw with the fewest", 10.0), line("the same, draw with the most", 95.4))
    )
    assert "10 % of the signs in one of our draws and 95 % in another, 63 % in the mean" in told
    assert "why is not known" in double_trouble._signs(a5(mean))


def test_half_a_tvd_is_told_with_its_interval() -> None:
    for low, rest in ((0.060, "no more than seeds and texts differ by"), (0.066, "not known")):
        line = Line("lambda 0", (Cell(), Cell(Estimate(0.084, low, 0.098, 200), "0.032")))
        kept = Kept({"table_5_sst": Table("table_5_sst", "", ("F1", "TVD"), (line,))}, {}, {})
        (told,) = second_attention._half(kept)
        assert f"half of it 0.042 [{low / 2:.3f}, 0.049], printed 0.032" in told
        assert f"the rest is {rest}." in told
