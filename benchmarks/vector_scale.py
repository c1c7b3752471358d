"""Does the size of the word vectors explain the CNN's tau? Agreement of attention, gradients and leave-one-out.

    python benchmarks/vector_scale.py --data DIR [--dataset sst] [--scales 1 0.25 0.1] [--seeds 10 50 257] [--texts 250]

The CNN with additive attention of the first study of attention, from GloVe vectors times each scale: vectors of 300
dimensions with the same length have smaller numbers, so filters answer less. Prints one line of JSON for each model:
accuracy and the mean Kendall's tau of each pair on texts of the test part.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from assay.data.word_vectors import word_vectors
from assay.training.attentive import Attend, attend
from assay.workflows.audit import audit_attention
from assay_studies.attention_is_not_explanation.tasks import RECIPES
from assay_studies.data.jain_wallace import Split, read
from assay_studies.samples import spread

PAIRS = ("attention_gradient", "attention_loo", "gradient_loo")


def scaled(split: Split, scale: float, place: Path) -> str:
    """A file of the GloVe vectors of the dataset's words, each times the scale."""
    words = {word: 1 for example in split.train for word in example.strings[0].split()}
    lines = (f"{w} {' '.join(f'{x * scale:.6f}' for x in v)}" for w, v in word_vectors("glove", words))
    file = place / f"{scale:g}.txt"
    file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return str(file)


def measured(split: Split, how: Attend, count: int) -> dict[str, Any]:
    """The accuracy of a model trained so, and its taus."""
    (train, labels), dev = columns(split.train), columns(split.dev)
    model = attend(train, labels, how=how, dev=dev, progress=False)
    chosen = spread(split.test, count)
    texts = [example.text for example in chosen]
    found = audit_attention(model, texts, permutations=1, k=1, steps=1, progress=False).texts
    taus = {pair: [np.nan if (tau := one.taus[pair]) is None else tau.value for one in found] for pair in PAIRS}
    said = model.predict(texts).argmax(axis=1)
    right = np.mean([model.labels[i] == str(example.label) for i, example in zip(said, chosen, strict=True)])
    return {"accuracy": round(float(right), 3), **{pair: round(float(np.nanmean(of)), 3) for pair, of in taus.items()}}


def columns(part: Any) -> tuple[list[str], list[str]]:
    return [example.strings[0] for example in part], [str(example.label) for example in part]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--dataset", default="sst")
    parser.add_argument("--scales", type=float, nargs="+", default=[1.0, 0.25, 0.1])
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 50, 257])
    parser.add_argument("--texts", type=int, default=250)
    asked = parser.parse_args()
    split, own = read(asked.dataset, asked.data), RECIPES[asked.dataset]
    with TemporaryDirectory() as place:
        for scale in asked.scales:
            how = Attend(encoder="cnn", rarest=own.rarest, batch=own.batch, vectors=scaled(split, scale, Path(place)))
            for seed in asked.seeds:
                found = measured(split, replace(how, plan=replace(how.plan, seed=seed)), asked.texts)
                print(json.dumps({"dataset": asked.dataset, "scale": scale, "seed": seed, **found}), flush=True)


if __name__ == "__main__":
    main()
