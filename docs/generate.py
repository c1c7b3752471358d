"""Write the pages that come from the code: methods, checks, commands, Python. `--check`: are they current?

python docs/generate.py [--check]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import api_reference
from typer.main import get_command
from typer.testing import CliRunner

from assay.cli.commands import app
from assay.registry.cards import CheckCard, MethodCard
from assay.registry.finding import checks, methods, planned
from assay.registry.sample_task import examines_sample
from assay.registry.survey import Cell, Row, Uses
from assay.text.sample import Sample

os.environ["COLUMNS"] = "100"  # help texts must not depend on the terminal

HERE = Path(__file__).parent
MADE = "<!-- Made by docs/generate.py from the code; edit the docstrings and run `make docs`. -->\n"


def docstring(card: MethodCard | CheckCard) -> str:
    """The module's own words; its indented equations become blocks of code."""
    return (import_module(card.make_from.__module__).__doc__ or "").strip()


def parameters(card: MethodCard | CheckCard) -> str:
    rows = [f"| `{name}` | `{value}` |" for name, value in card.defaults().items()]
    return "\n".join(["| parameter | default |", "|---|---|", *rows]) if rows else "No parameters."


def method_section(card: MethodCard) -> str:
    section = f", survey section {card.section}" if card.section else ""
    needs = ", ".join(f"`{question.__name__}`" for question in card.needs) or "nothing"
    return f"""## {card.title}

`{card.name}` · {card.row}, {card.uses}{section} · {card.paper}

{docstring(card)}

{"Describes a sample (`assay describe`); asks" if card.reads is Sample else "Asks"} the model for {needs}; returns \
`{card.returns.__name__}`.

{parameters(card)}
"""


def read_by(card: CheckCard) -> str:
    kind = f"`{card.reads.__name__}`"
    return f"a whole labelled sample and {kind}" if examines_sample(card) else kind


def check_section(card: CheckCard) -> str:
    return f"""## {card.title}

`{card.name}` · {card.better} is better · reads {read_by(card)} · {card.paper}

{docstring(card)}

Also affected by: {card.sensitive_to}.

{parameters(card)}
"""


def cell(row: Row, uses: Uses) -> str:
    built = [f"**{c.title}**{_marks(c)} {c.section}" for c in methods().values() if (c.row, c.uses) == (row, uses)]
    missing = [f"*{c.title}*{_marks(c)} {c.section}" for c in planned() if (c.row, c.uses) == (row, uses)]
    return ", ".join(text.strip() for text in built + missing)


def _marks(entry: MethodCard | Cell) -> str:
    return f"<sup>{','.join(entry.marks)}</sup>" if entry.marks else ""


def table() -> str:
    head = ["| | " + " | ".join(Uses) + " |", "|---" * (len(Uses) + 1) + "|"]
    return "\n".join(head + [f"| {row} | " + " | ".join(cell(row, uses) for uses in Uses) + " |" for row in Row])


def methods_page() -> str:
    head = f"""{MADE}
# Methods

The survey's Table 1 (Madsen, Reddy and Chandar 2022, arXiv:2108.04840): rows are kinds of explanation, columns are what
a method must know of the model. **Bold** is built, *italic* is planned; numbers are sections of the survey. Marks: C
checkpoints of the training, D a further dataset, H second derivatives, M a further model.

{table()}

"""
    return head + "\n".join(method_section(card) for card in methods().values())


def checks_page() -> str:
    head = f"""{MADE}
# Checks

A check reads an explanation, whichever method made it, and always runs random explanations of the same texts beside
it. Its verdict holds the mean score, the difference to random with a 95 % interval (paired, over texts), and a
p-value: how often random explanations would do as well. With one text, the score is placed among random maps of that
text.

Several checks go on where one cannot be asked (it reads another kind of explanation, needs a file, or asks what the
model cannot answer): `assay check` shows the verdicts there are, says of each that is missing why, and ends with exit
code 2; in Python, `left_out` of the list has them.

"""
    return head + "\n".join(check_section(card) for card in checks().values())


def commands(group: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The names of all commands, those of a group after the group itself."""
    for name, command in group.commands.items():
        yield (*before, name)
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))


def help_of(*command: str) -> str:
    result = CliRunner().invoke(app, [*command, "--help"], prog_name="assay", terminal_width=100, color=False)
    return "\n".join(line.rstrip() for line in result.output.strip("\n").splitlines())


def cli_page() -> str:
    parts = [f"## assay {' '.join(name)}\n\n```text\n{help_of(*name)}\n```\n" for name in commands(get_command(app))]
    return f"{MADE}\n# The command line\n\n```text\n{help_of()}\n```\n\n" + "\n".join(parts)


def pages() -> dict[Path, str]:
    return {
        HERE / "methods.md": methods_page(),
        HERE / "checks.md": checks_page(),
        HERE / "cli.md": cli_page(),
        HERE / "api.md": f"{MADE}\n{api_reference.page()}",
    }


def main() -> int:
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"docs/{path.name} is not current; run `make docs`.", file=sys.stderr)
        return 1 if stale else 0
    for path in stale:
        path.write_text(pages()[path], encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
