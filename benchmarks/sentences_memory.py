"""Peak memory of descriptions of many short sentences: it must not grow with them beyond what answers and labels take.

    python benchmarks/sentences_memory.py [--rows 10000,30000,100000] [--methods structural_probe,behavioral_probe,...]

Each size of each method has a process of its own, which writes a csv file of short sentences with two labels, opens a
small random BERT (2 layers of 64 numbers) and describes the file. Printed: the resident memory before and at its
peak, the growth between two sizes in bytes a sentence, and the time.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

METHODS: dict[str, dict[str, Any]] = {
    "structural_probe": {"most": 10**6, "epochs": 0.2},
    "words of structural_probe": {"task": "pos", "most": 10**9, "epochs": 0.05},
    "compositional_neurons": {"length": 2, "beam": 2},
    "behavioral_probe": {},
}
WORDS = ("a", "the", "film", "book", "plot", "cast", "good", "bad", "dull", "fine", "slow", "old", "new", "is", "was")


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--rows", default="10000,30000,100000")
    arguments.add_argument("--methods", default=",".join(METHODS))
    arguments.add_argument("--one", default="")
    given = arguments.parse_args()
    if given.one:
        method, rows = given.one.rsplit(":", 1)
        print(json.dumps(measured(method, int(rows))))
        return
    for method in given.methods.split(","):
        found = [(rows, in_its_own_process(method, rows)) for rows in map(int, given.rows.split(","))]
        for rows, one in found:
            shown = f"{one['peak']:,.0f} MB at the peak, {one['before']:,.0f} MB before, {one['seconds']:.0f} s"
            print(f"{method:26} {rows:>7,} sentences: {shown}", flush=True)
        for (few, small), (many, large) in pairwise(found):
            growth = (large["peak"] - small["peak"]) * 2**20 / (many - few)
            print(f"{method:26} from {few:,} to {many:,}: {growth:,.0f} bytes a sentence", flush=True)


def in_its_own_process(method: str, rows: int) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", f"{method}:{rows}"]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    result: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return result


def measured(method: str, rows: int) -> dict[str, float]:
    import assay

    with tempfile.TemporaryDirectory() as folder:
        settings = dict(METHODS[method])
        sample: Any = None
        if settings.get("task") == "pos":
            settings["corpus"] = str(treebank(Path(folder), rows))
        else:
            sample = assay.Sample.of(table(Path(folder), rows), text="text", label="label")
        model = small_model()
        model.predict(["a good film"])
        before, began = resident(), time.perf_counter()
        assay.describe(model, sample, method.split()[-1], progress=False, **settings)
        return {"before": before, "peak": peak(), "seconds": time.perf_counter() - began}


def sentences(rows: int) -> Any:
    """Eight words each, all different."""
    rng = np.random.default_rng(0)
    for number, words in enumerate(rng.choice(WORDS, (rows, 7))):
        yield f"{' '.join(words)} {number}", "positive" if "good" in words or "fine" in words else "negative"


def table(folder: Path, rows: int) -> Path:
    with (folder / "rows.csv").open("w") as file:
        file.write("text,label\n")
        file.writelines(f"{text},{label}\n" for text, label in sentences(rows))
    return folder / "rows.csv"


def treebank(folder: Path, rows: int) -> Path:
    """Words with tags, one a line; the tag says whether it is the first one."""
    with (folder / "rows.iob").open("w") as file:
        for text, _ in sentences(rows):
            file.writelines(f"{word} {'B-X' if i % 3 else 'O'}\n" for i, word in enumerate(text.split()))
            file.write("\n")
    return folder / "rows.iob"


def small_model() -> Any:
    import transformers as hf

    import assay

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS, *"0123456789", *(f"##{i}" for i in range(10))]
    tokenizer = hf.BertTokenizer(vocab={word: i for i, word in enumerate(words)}, model_max_length=64)
    sizes = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 64}
    config = hf.BertConfig(vocab_size=len(words), num_labels=2, max_position_embeddings=64, **sizes)
    config.id2label, config.label2id = {0: "negative", 1: "positive"}, {"negative": 0, "positive": 1}
    return assay.load((hf.BertForSequenceClassification(config).eval(), tokenizer))


def resident() -> float:
    """Of this process, in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10


if __name__ == "__main__":
    main()
