"""What a study finishes says where it was made; what another machine made is taken as it is."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from assay.verbs import versions
from assay_studies.findings import Part
from assay_studies.origin import origin
from assay_studies.store import Store


@pytest.fixture
def elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_MACHINE", "a card, 16 cores")
    monkeypatch.setenv("ASSAY_COMMIT", "abc1234")
    origin.cache_clear()
    monkeypatch.setattr("assay_studies.store.origin", origin.__wrapped__)


@pytest.mark.usefixtures("elsewhere")
def test_every_result_says_where_it_was_made(tmp_path: Path) -> None:
    store, settings = Store(tmp_path), {"version": 1}
    store.keep_part(Part("one", "One"), settings)
    store.keep_maps("one", settings, [])
    store.keep_data("answers", "one", settings, [1.5])
    numbers = ", ".join(f"{name} {version}" for name, version in versions().items())
    made = {"machine": "a card, 16 cores", "commit": "abc1234", "versions": numbers}
    assert "torch" in numbers
    part = json.loads((tmp_path / "parts/one.json").read_text())
    maps = json.loads(gzip.decompress((tmp_path / "maps/one.jsonl.gz").read_bytes()).splitlines()[0])
    data = json.loads(gzip.decompress((tmp_path / "answers/one.json.gz").read_bytes()))
    assert part["made"] == maps["made"] == data["made"] == made
    assert store.part("one", settings) == Part("one", "One")
    assert (store.maps("one", settings), store.data("answers", "one", settings)) == ([], [1.5])


def test_what_was_kept_without_its_origin_is_taken(tmp_path: Path) -> None:
    """As studies kept it until now."""
    store, settings = Store(tmp_path), {"version": 1}
    for path, data in {
        "parts/one.json": json.dumps({"settings": settings, "part": Part("one", "One").to_dict()}).encode(),
        "maps/one.jsonl.gz": gzip.compress(json.dumps({**settings, "explanations": "whole"}).encode()),
        "answers/one.json.gz": gzip.compress(json.dumps({"settings": settings, "data": [2]}).encode()),
    }.items():
        store.write(tmp_path / path, data)
    store.require_ours()
    assert store.part("one", settings) == Part("one", "One")
    assert (store.maps("one", settings), store.data("answers", "one", settings)) == ([], [2])


def test_the_time_of_a_job_stays_when_it_is_found_done(tmp_path: Path) -> None:
    store = Store(tmp_path)
    assert store.seconds == {}
    for job, seconds in (("a", 12.34), ("b", 3.0), ("a", 0.01)):
        store.keep_seconds(job, seconds)
    assert Store(tmp_path).seconds == {"a": 12.3, "b": 3.0}
    (tmp_path / "job_seconds.json").write_text("[1")
    assert store.seconds == {}
