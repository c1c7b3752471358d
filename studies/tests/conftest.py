"""Fixtures of the tests of what the study of Pham et al. trains; a test file of another study has its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import study_data
from trained_data import SMALL, strong_training, write

from assay_studies import Request


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("data"))


@pytest.fixture(scope="module")
def request_(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Request:
    models = study_data.models()
    return Request(data=data, out=tmp_path_factory.mktemp("out"), models=models, sizes=SMALL)


@pytest.fixture(scope="module")
def strong() -> Iterator[None]:
    with strong_training():
        yield
