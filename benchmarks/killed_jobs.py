"""Kill -9 on every command that writes a directory: what it leaves in the end is what an undisturbed one leaves.

    python benchmarks/killed_jobs.py [--kills 10] [--every] [--seed 0] [--only audit,index]

Each job (tests/killed_jobs.py, on tiny models) is killed at random instants and begun again with the same command until
it has been killed so often; then it may end. With --every it is killed once right before every single change of a file
instead, and resumed after each. Printed are the kills by job; exit code 1 where anything differs from a job that
nothing happened to.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import torch

from killed_jobs import JOBS, Job, Left, prepared, same, small
from killing import killed_after, killed_before


def at_random(job: Job, place: Path, whole: Left, kills: int, took: float, rng: Random) -> tuple[int, int]:
    """Kill it so often, over as many undisturbed ends as it takes: how many kills, and how many ends that differ."""
    done = wrong = made = 0
    while done < kills:
        where, made = place / str(made), made + 1
        where.mkdir()
        while done < kills and killed_after(rng.uniform(0, took), partial(job.run, where)):
            done += 1
        job.run(where)
        wrong += not same(job.left(where), whole)
    return done, wrong


def at_every_change(job: Job, place: Path, whole: Left) -> tuple[int, int]:
    number = wrong = 0
    while True:
        where = place / f"at-{number}"
        where.mkdir()
        if not killed_before(number, where, partial(job.run, where)):
            return number, wrong
        job.run(where)
        wrong += not same(job.left(where), whole)
        number += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--every", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default=",".join(JOBS))
    options = parser.parse_args()
    torch.set_num_threads(1)
    rng, bad = Random(options.seed), 0
    prepared()
    with small():
        for name in options.only.split(","):
            job = JOBS[name]
            with TemporaryDirectory() as folder:
                place = Path(folder)
                (place / "whole").mkdir()
                began = time.perf_counter()
                job.run(place / "whole")
                took, whole = time.perf_counter() - began, job.left(place / "whole")
                if options.every:
                    kills, wrong = at_every_change(job, place, whole)
                else:
                    kills, wrong = at_random(job, place, whole, options.kills, took, rng)
            print(f"{name:14} {took:6.2f} s undisturbed, {kills:4} kills, {wrong} ends that differ", flush=True)
            bad += wrong
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
