"""What it costs to find out about a model when it is first used, as a share of `assay explain` in a fresh process.

    python benchmarks/admission.py [--rounds 5] [--models sst2,snli]

Processor seconds of the whole command, and of admission within it, each in a process of its own; the median of the
rounds. Then the same for a model that is known already. Processor time, since on a busy machine the clock on the wall
tells of its neighbours.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from statistics import median

# The command as the shell runs it, with a clock around admission; a second look at the model is timed after it.
_TIMED = """
import json, sys, time
from assay.cli import main
from assay.models.transformers import adapter

admitted, spent, seen = adapter.admitted, [], []

def timed(*given):
    start = time.process_time()
    found = admitted(*given)
    spent.append(time.process_time() - start)
    seen.append(given)
    return found

adapter.admitted = timed
code = main(sys.argv[1:])
whole = time.process_time()
timed(*seen[0])
print(json.dumps({"code": code, "whole": whole, "first": spent[0], "again": spent[-1]}), file=sys.stderr)
"""


def measured(model: str) -> dict[str, float]:
    """One fresh process."""
    pair = ["--pair", "a film that grips"] if model == "snli" else []
    words = ["explain", "a gripping film", "--method", "leave_one_out", "--model", model, *pair]
    done = subprocess.run([sys.executable, "-c", _TIMED, *words], capture_output=True, text=True, check=True)
    return dict(json.loads(done.stderr.splitlines()[-1]))


def main() -> None:
    """Prints a line a model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--models", default="sst2,snli")
    given = parser.parse_args()
    for model in given.models.split(","):
        rounds = [measured(model) for _ in range(given.rounds)]
        whole, first, again = (median(one[key] for one in rounds) for key in ("whole", "first", "again"))
        share = median(one["first"] / one["whole"] for one in rounds)
        print(f"{model}: {whole:.2f} s, of which admission {1e3 * first:.0f} ms ({share:.1%});", end=" ")
        print(f"known already: {1e3 * again:.1f} ms")


if __name__ == "__main__":
    main()
