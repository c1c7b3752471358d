"""Run the sweep, or a share of it: `python tests/sweep/run.py [--part K/N] [--only KIND ...] [--methods NAME,...]`.

Results go to a file of lines of JSON as they come, one for each architecture and task; what is there already is not
done again unless the code has changed since. In the end the page docs/architectures.md is written from them.
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import time
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
if __name__ == "__main__":
    sys.path.insert(0, str(HERE.parent))

import torch  # noqa: E402

import assay  # noqa: E402
from assay.errors import AssayError  # noqa: E402
from sweep.cells import Cell, cell, slow_tasks  # noqa: E402
from sweep.compared import METHODS, wanted  # noqa: E402
from sweep.made_tiny import NotMade, architectures, tiny  # noqa: E402
from sweep.page import page, states  # noqa: E402
from sweep.unchanged import picture  # noqa: E402

PAGE = ROOT / "docs" / "architectures.md"
SECONDS = 30  # for one architecture and task


class OutOfTime(BaseException):
    """One architecture took too long; no `except Exception` on the way may keep it."""


@contextmanager
def within(seconds: int) -> Iterator[None]:
    """Raises when so much time of the processor has gone by, however busy the machine is."""

    def stop(*_: Any) -> None:
        raise OutOfTime(f"more than {seconds} seconds")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def swept(kind: str, task: str, methods: Sequence[str]) -> dict[str, Any]:
    """One architecture at one task: the cells of its line, or why it could not be made."""
    start, line = time.process_time(), {"kind": kind, "task": task}
    try:
        with within(SECONDS):
            model, tokenizer = tiny(kind, task)
            line["model"] = type(model).__name__
            return line | {"cells": _cells(model, tokenizer, task, methods), "seconds": time.process_time() - start}
    except (NotMade, OutOfTime, ImportError) as none:
        return line | {"left_out": str(none)}
    except Exception as error:
        why = f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        return line | {"cells": {"load": Cell("error", why).to_dict()}, "seconds": time.process_time() - start}


def _cells(model: Any, tokenizer: Any, task: str, methods: Sequence[str]) -> dict[str, Any]:
    before = picture(model, tokenizer)
    slow = slow_tasks(deepcopy(model), tokenizer, task)
    chosen = [name for name in methods if wanted(task, name)]
    try:
        loaded = assay.load((model, tokenizer))
    except AssayError as error:
        return {name: Cell("refused", " ".join(str(error).split())).to_dict() for name in chosen}
    cells = {name: cell(loaded, slow, task, name).to_dict() for name in chosen}
    changed = [part for part, now in picture(model, tokenizer).items() if now != before[part]]
    cells["unchanged"] = (Cell("wrong", f"changed: {', '.join(changed)}") if changed else Cell("right")).to_dict()
    return cells


def code() -> str:
    """A digest of the library and of the sweep: results of other code are not used."""
    files = sorted([*(ROOT / "src").rglob("*.py"), *HERE.glob("*.py")])
    digest = blake2b(digest_size=8)
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()


def read(path: Path, of: str | None = None) -> dict[tuple[str, str], dict[str, Any]]:
    """The lines of a results file by architecture and task, of this version of the code only.

    Of several about the same, which may have asked other methods, the last says what each method does.
    """
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for one in map(json.loads, path.read_text(encoding="utf-8").splitlines() if path.exists() else ()):
        key = one["kind"], one["task"]
        if of in (None, one["code"]):
            before = found.get(key, {}).get("cells", {}) if "cells" in one else {}
            found[key] = one | ({"cells": before | one["cells"]} if "cells" in one else {})
    return found


def sweep(path: Path, todo: Sequence[tuple[str, str]], methods: Sequence[str], anew: bool) -> None:
    now = code()
    done = {} if anew else read(path, now)
    path.parent.mkdir(exist_ok=True, parents=True)
    with path.open("a", encoding="utf-8") as out:
        for kind, task in todo:
            known = done.get((kind, task), {"cells": {}})
            missing = [name for name in methods if wanted(task, name) and name not in known.get("cells", {name})]
            if not missing or "load" in known["cells"]:
                continue
            line = swept(kind, task, missing) | {"code": now}
            print(json.dumps(line), file=out, flush=True)
            print(summary(line), flush=True)


def summary(line: dict[str, Any]) -> str:
    if "left_out" in line:
        return f"{line['kind']:24} {line['task']:15} left out: {line['left_out'][:120]}"
    states = [one["state"] for one in line["cells"].values()]
    counts = ", ".join(f"{states.count(state)} {state}" for state in sorted(set(states)))
    bad = [f"{name}: {one['why'][:100]}" for name, one in line["cells"].items() if one["state"] in ("wrong", "error")]
    return "\n    ".join([f"{line['kind']:24} {line['task']:15} {counts} ({line['seconds']:.1f} s)", *bad])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--results", type=Path, default=ROOT / ".sweep" / "results.jsonl")
    parser.add_argument("--only", nargs="*", default=(), help="model types")
    parser.add_argument("--tasks", nargs="*", default=())
    parser.add_argument("--methods", default=",".join(METHODS))
    parser.add_argument("--part", default="0/1", help="K/N: every Nth architecture and task, from the Kth on")
    parser.add_argument("--anew", action="store_true", help="do again what is done")
    options = parser.parse_args()
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    todo = [
        (kind, task)
        for kind, task in architectures()
        if (not options.only or kind in options.only) and (not options.tasks or task in options.tasks)
    ]
    sweep(options.results, part(todo, options.part), options.methods.split(","), options.anew)
    write_page(options.results)


def write_page(results: Path) -> None:
    """The page from all lines that there are, and what there is in all."""
    known = read(results)
    lines = [known[one] for one in architectures() if one in known]
    print(dict(states([line for line in lines if "cells" in line])))
    missing = [one for one in architectures() if one not in known]
    PAGE.write_text(page(lines, version("transformers"), missing), encoding="utf-8")


def part(todo: Sequence[tuple[str, str]], share: str) -> Sequence[tuple[str, str]]:
    """K/N: every Nth of them, from the Kth on."""
    k, n = map(int, share.split("/"))
    return todo[k % n :: n]


if __name__ == "__main__":
    main()
