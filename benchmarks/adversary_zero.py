"""Do the word vectors explain how far adversaries of lambda 0 are from their base on SST? Printed: TVD 0.032, F1 0.816.

    python benchmarks/adversary_zero.py --data DIR [--vectors glove random_300] [--seeds 10 50 257] [--device D]

The paper had fastText vectors of 300 dimensions, the study has GloVe of 50. Base and adversary are trained as in the
second study of attention, from GloVe or from random numbers of 50 or 300 dimensions. Prints one line of JSON for each
adversary; `half_tvd` is the mean TVD to the base as the released code counts it.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.training.attentive import Attend
from assay.verdicts.sample_verbs import trained_adversary
from assay_studies.attention_is_not_explanation.tasks import RECIPES
from assay_studies.data.jain_wallace import read

VECTORS: dict[str, dict[str, Any]] = {
    "glove": {"vectors": "glove"},
    "random_50": {"vectors": None, "size": 50},
    "random_300": {"vectors": None, "size": 300},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--vectors", nargs="+", default=list(VECTORS), choices=VECTORS)
    parser.add_argument("--seeds", type=int, nargs="+", default=[10, 50, 257])
    parser.add_argument("--epochs", type=int, default=80)
    parser.add_argument("--device")
    asked = parser.parse_args()
    split, own = read("sst", asked.data), RECIPES["sst"]
    plain = Attend(rarest=own.rarest, batch=own.batch, hidden=own.hidden, device=asked.device)
    how: dict[str, Any] = {"dev": split.dev, "lambdas": (0.0,), "epochs": asked.epochs, "variant": "released"}
    for seed in asked.seeds:
        for name in asked.vectors:
            recipe = replace(plain, **VECTORS[name])
            found = trained_adversary(None, split.train, split.test, how=recipe, seed=seed, progress=False, **how)
            row = found.table()[0]
            told = {"f1": row["f1"].value, "half_tvd": row["tvd"].value / 2, "jsd": row["jsd"].value}
            numbers = {key: round(value, 4) for key, value in told.items()}
            print(
                json.dumps({"vectors": name, "seed": seed, "base_f1": round(found.base.f1.value, 4), **numbers}),
                flush=True,
            )


if __name__ == "__main__":
    main()
