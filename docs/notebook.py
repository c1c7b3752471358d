"""Run the notebook of the tutorial, keep what it shows, and write it as a page.

python docs/notebook.py     runs docs/tutorial.ipynb in this interpreter, writes its outputs and docs/tutorial.md

No kernel is needed: the cells run one after the other in one namespace, as a notebook runs them. The last expression of
a cell is shown as a notebook shows it: as HTML where it has such a view.
"""

from __future__ import annotations

import ast
import contextlib
import io
import json
import re
from pathlib import Path
from typing import Any

from code_blocks import examples

HERE = Path(__file__).parent
NOTEBOOK, PAGE = HERE / "tutorial.ipynb", HERE / "tutorial.md"
HEAD = """<!-- Made by docs/notebook.py from docs/tutorial.ipynb; edit the notebook and run `make docs`. -->

"""


def read() -> dict[str, Any]:
    notebook: dict[str, Any] = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    return notebook


def executed(notebook: dict[str, Any]) -> dict[str, Any]:
    """The same notebook with what its cells show now."""
    names: dict[str, Any] = {"__name__": "__main__"}
    cells, count = [], 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            count += 1
            cell = cell | {"execution_count": count, "outputs": run("".join(cell["source"]), names, count)}
        cells.append(cell)
    return notebook | {"cells": cells}


def run(source: str, names: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Run the source of a cell; what it prints, and what its last expression shows."""
    body = ast.parse(source).body
    last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(ast.Module(body, []), "tutorial.ipynb", "exec"), names)
        value = eval(compile(ast.Expression(last.value), "tutorial.ipynb", "eval"), names) if last else None
    outputs: list[dict[str, Any]] = []
    if text := printed.getvalue():
        outputs.append({"output_type": "stream", "name": "stdout", "text": text.splitlines(keepends=True)})
    if value is not None:
        outputs.append(
            {"output_type": "execute_result", "execution_count": count, "metadata": {}, "data": shown(value)}
        )
    return outputs


def shown(value: Any) -> dict[str, list[str]]:
    """What a notebook shows of a value."""
    draw = getattr(value, "_repr_html_", None)
    if draw is None:
        return {"text/plain": repr(value).splitlines(keepends=True)}
    return {"text/plain": [f"<{type(value).__name__}>"], "text/html": draw().splitlines(keepends=True)}


def page(notebook: dict[str, Any]) -> str:
    """The notebook as a page of the site."""
    return HEAD + "\n".join(map(_as_markdown, notebook["cells"]))


def _as_markdown(cell: dict[str, Any]) -> str:
    source = "".join(cell["source"])
    if cell["cell_type"] == "markdown":
        return f"{source}\n"
    return f"```python\n{source}\n```\n\n" + "".join(map(_output, cell["outputs"]))


def _output(output: dict[str, Any]) -> str:
    if output["output_type"] == "stream":
        return f"```text\n{''.join(output['text'])}```\n\n"
    data = output["data"]
    if "text/html" in data:
        html = re.sub(r"\n\s*\n", "\n", "".join(data["text/html"]))  # a blank line would end a block of HTML
        return f'<div class="cell-output">\n{html}\n</div>\n\n'
    return f"```text\n{''.join(data['text/plain'])}\n```\n\n"


def main() -> None:
    with examples(with_run=False):
        notebook = executed(read())
    NOTEBOOK.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    PAGE.write_text(page(notebook), encoding="utf-8")


if __name__ == "__main__":
    main()
