"""A run of influential examples is kept, resumed and reported as any other."""

from __future__ import annotations

from pathlib import Path

import assay
from assay.cli import main
from influence_toys import fit, reviews


def test_a_run_of_influential_examples(tmp_path: Path) -> None:
    train = list(reviews(30))
    fit(train, tmp_path / "bag")
    table, texts = tmp_path / "train.csv", tmp_path / "texts.csv"
    table.write_text("text,label\n" + "".join(f"{text},{label}\n" for text, label in train), encoding="utf-8")
    texts.write_text("text\na funny film\nthe plot was dull\n", encoding="utf-8")
    command = ["run", str(texts), "--model", str(tmp_path / "bag"), "-m", "tracin", "-p", f"train={table}"]
    for _ in range(2):
        assert main([*command, "--out", str(tmp_path / "run"), "-q"]) == 0
    one, two = assay.open(tmp_path / "run").explanations()
    assert isinstance(one, assay.Examples)
    assert len(one.scores) == 30
    assert one.examples
    assert two.about.method == "tracin"
    assert main(["report", str(tmp_path / "run"), "--html", str(tmp_path / "page.html"), "-q"]) == 0
