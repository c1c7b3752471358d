"""Cards: the json that loading reads and the page that people read, both made from what a run measured."""

import json
import platform
from pathlib import Path
from typing import Any

import torch
import transformers

from assay_zoo.cards import file_name, sha256

Facts = dict[str, Any]
KINDS = ("accuracy", "mean", "perplexity")
SMALL = (
    "This is a small demonstration model (22.7M weights, 6 layers): it is here so that explanations can be tried and "
    "tested on something real without a download. Do not decide anything about people with it."
)

WRITER = (
    "This is a small demonstration model: a low-rank adapter on SmolLM2-135M-Instruct (Apache-2.0), whose weights come "
    "from another package. It is here so that sentences about a prediction can be tried and tested without a download. "
    "Do not decide anything about people with it."
)


def machine(device: str, seconds: float, seed: int) -> Facts:
    """Where and how long a model was trained."""
    name = torch.cuda.get_device_name() if device.startswith("cuda") else platform.machine()
    versions = {"torch": torch.__version__, "transformers": transformers.__version__}
    return {"device": name, "seconds": round(seconds, 1), "seed": seed, **versions}


def write(out: Path, facts: Facts) -> None:
    """Write both forms of a card, with the digests of the files as they lie in `out`."""
    files = {name: sha256(out / name) for name in facts["reads"]}
    whole = facts | {"files": files, "bytes": sum((out / name).stat().st_size for name in files)}
    name = file_name(facts["name"])
    (out / f"{name}.json").write_text(json.dumps(whole, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    (out / f"{name}.md").write_text(page(whole), encoding="utf-8")


def read(out: Path, name: str) -> Facts:
    """A card's json."""
    facts: Facts = json.loads((out / f"{file_name(name)}.json").read_text(encoding="utf-8"))
    return facts


def page(facts: Facts) -> str:
    """The markdown page of a card."""
    parts = [heading(facts), data(facts), figures(facts), weak(facts), fills(facts), training(facts), files(facts)]
    return "\n\n".join(part for part in parts if part) + "\n"


def heading(facts: Facts) -> str:
    """Title, what goes in and what comes out."""
    labels = f" Labels: {', '.join(facts['labels'])}." if facts["labels"] else ""
    title = f"# {facts['name']}: {facts['title']}"
    small = WRITER if facts["task"] == "text-generation" else SMALL
    return f"{title}\n\n{small}\n\nTask: {facts['task']}. Fields: {', '.join(facts['fields'])}.{labels}"


def data(facts: Facts) -> str:
    """What it was trained on and under which licence, and what was kept out."""
    rows = [f"| {name} | {rows:,} | {licence} |" for name, rows, licence in facts["data"]]
    table = "\n".join(["| training data | rows | licence of the data |", "|---|---|---|", *rows])
    return f"## Data\n\n{table}\n\nKept out: {facts['kept_out']}"


def figures(facts: Facts) -> str:
    """What it scores, with 95 % intervals, and the same on a CPU from the packed files."""
    rows = [figure_row(part, one, facts.get("cpu", {}).get(part)) for part, one in facts["metrics"].items()]
    head = ["| part | n | measure | value [95 % interval] | ECE | again on CPU, fp32 |", "|---|---|---|---|---|---|"]
    return "\n".join(["## Figures", "", *head, *rows])


def figure_row(part: str, one: Facts, cpu: Facts | None) -> str:
    """One line of the table of figures."""
    low, high = one["interval"]
    calibration = f"{one['ece']:.3f}" if "ece" in one else ""
    again = f"{value(cpu):.4f}" if cpu else "not yet"
    kind = next(kind for kind in KINDS if kind in one)
    return f"| {part} | {one['n']:,} | {kind} | {value(one):.4f} [{low:.4f}, {high:.4f}] | {calibration} | {again} |"


def value(one: Facts) -> float:
    """The figure itself."""
    return float(next(one[kind] for kind in KINDS if kind in one))


def weak(facts: Facts) -> str:
    """What it is bad at, as measured."""
    return "## What it is bad at\n\n" + "\n".join(f"- {line}" for line in facts["weak"])


def fills(facts: Facts) -> str:
    """Example fills of a masked language model."""
    if "fills" not in facts:
        return ""
    lines = [
        f"- {text}: " + ", ".join(f"{word} {p:.2f}" for word, p in words) for text, words in facts["fills"].items()
    ]
    return "## Example fills\n\n" + "\n".join(lines)


def training(facts: Facts) -> str:
    """How it was trained."""
    lines = [f"- {name.replace('_', ' ')}: {value}" for name, value in facts["training"].items()]
    return f"## Training\n\nRecipe: `{facts['recipe']}`\n\n" + "\n".join(lines)


def files(facts: Facts) -> str:
    """The files that loading reads."""
    lines = [f"- `{name}` {digest}" for name, digest in facts["files"].items()]
    return f"## Files\n\n{facts['bytes']:,} bytes in all; sha256:\n\n" + "\n".join(lines)
