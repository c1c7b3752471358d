"""Run within a mount namespace of its own: `assay run` on small and read-only disks; what came of it, as lines of JSON.

unshare --map-root-user --mount python run_disks.py PLACE full 4 12 40      the disk has so many kB, then room
unshare --map-root-user --mount python run_disks.py PLACE read-only         from the start, at a resume, in the middle
"""

from __future__ import annotations

import gc
import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from hashlib import sha256
from io import StringIO
from pathlib import Path
from typing import Any

SETTINGS = ["--column", "text", "-m", "leave_one_out", "--threads", "1", "--shard-size", "15", "-q"]
CHECKED = ["--model", "run_models:sentiment", "-c", "sufficiency"]
MEDDLED = ["--model", "run_models:meddled"]


def mount(*options: str) -> None:
    subprocess.run(["mount", *options], check=True)


def freeze(place: str) -> None:
    """Read-only from now on, by its name: a disk on which a file (the run's lock) is open cannot be remounted so."""
    mount("--bind", place, place)
    mount("-o", "remount,ro,bind", place)


@contextmanager
def disk(size: str) -> Iterator[Path]:
    place = Path("disk")
    place.mkdir(exist_ok=True)
    mount("-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(place))
    (place / "other").write_text("somebody else's")  # one page of the disk
    try:
        yield place / "out"
    finally:
        gc.collect()  # a file that an error's traceback still holds open keeps the disk busy
        subprocess.run(["umount", str(place)], check=True)


def assay(*arguments: str) -> list[Any]:
    """The exit code and what was said on stderr."""
    from assay import cli

    sys.argv = ["assay", *arguments]
    sys.modules.pop("run_models", None)
    with redirect_stderr(StringIO()) as said, redirect_stdout(StringIO()):
        code = cli.main(arguments)
    return [code, said.getvalue()]


def run(out: Path, more: list[str]) -> list[Any]:
    return assay("run", "rows.csv", "--out", str(out), *SETTINGS, *more)


def held(out: Path) -> dict[str, str]:
    """The shards by name, and DONE."""
    paths = sorted(out.glob("shards/*")) + sorted(out.glob("DONE"))
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in paths}


def full(sizes: list[str]) -> Iterator[dict[str, Any]]:
    yield {"first": run(Path("whole"), CHECKED), "held": held(Path("whole"))}
    for size in sizes:
        with disk(f"{size}k") as out:
            first, left = run(out, CHECKED), [path.name for path in out.glob("*")]
            said = {"size": size, "first": first, "left": left, "kept": held(out)}
            mount("-o", "remount,size=8m", "disk")
            yield {**said, "again": run(out, CHECKED), "held": held(out)}


def read_only() -> Iterator[dict[str, Any]]:
    yield {"first": run(Path("whole"), MEDDLED), "held": held(Path("whole"))}
    with disk("8m") as out:
        mount("-o", "remount,ro", "disk")
        new = run(out, MEDDLED)
        mount("-o", "remount,rw", "disk")
        Path("meddle.py").write_text("import run_disks\nrun_disks.freeze('disk/out')\n")
        middle, kept = run(out, MEDDLED), held(out)
        Path("meddle.py").unlink()
        subprocess.run(["umount", str(out)], check=True)
        mount("-o", "remount,ro", "disk")
        resumed, state = run(out, MEDDLED), assay("status", str(out))
        page = assay("report", str(out), "--html", "disk/page.html")
        mount("-o", "remount,rw", "disk")
        said = {"new": new, "middle": middle, "resumed": resumed, "status": state, "page": page}
        yield {**said, "kept": kept, "again": run(out, MEDDLED), "held": held(out)}


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent), sys.argv[1]]
    for line in full(sys.argv[3:]) if sys.argv[2] == "full" else read_only():
        print(json.dumps(line), flush=True)
