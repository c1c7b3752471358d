"""The page about `import assay`: every public name with its signature and its docstring, read from the code."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import assay

VERBS = ("load", "explain", "describe", "check", "trust", "given", "stream", "open", "audit_attention", "mend", "roar")
KINDS = ("Explanation", "TextExplanation", "TokenScores", "TokenRule", "Edits", "Edit", "Selection")
RESULTS = ("Verdict", "TrustCard", "AttentionAudit", "MendResult", "RoarResult")
MODELS = ("TextModel", "BlackBox")
TEXTS = ("Text", "Sample", "Case")
SECTIONS = {
    "Verbs": VERBS,
    "Kinds of explanation": KINDS,
    "Verdicts and reports": RESULTS,
    "Models": MODELS,
    "Texts": TEXTS,
}


def page() -> str:
    """The page, without the line that says where it comes from."""
    named = {name for names in SECTIONS.values() for name in names}
    sections = {**SECTIONS, "More": tuple(sorted(set(assay.__all__) - named))}
    parts = [f"## {title}\n\n" + "\n".join(map(entry, names)) for title, names in sections.items() if names]
    return f"""# Python

```python
import assay
```

Everything below is an attribute of `assay`. The verbs take a model that is loaded (`assay.load`) or whatever `load`
takes; a name of a [method](methods.md) or a [check](checks.md) may be replaced by an object of it.

{chr(10).join(parts)}"""


def entry(name: str) -> str:
    """One public name: heading, signature, words, and for a class its public members."""
    found = getattr(assay, name)
    if not inspect.isclass(found):
        return f"### {name}\n\n```text\n{signature(f'assay.{name}', found)}\n```\n\n{words(found)}\n"
    base = next((one for one in found.__mro__[1:] if getattr(assay, one.__name__, None) is one), None)
    known = set(members(base)) if base else set()
    rows = "\n".join(f"| `{member}` | {first} |" for member, first in members(found) if (member, first) not in known)
    table = f"\n| member | |\n|---|---|\n{rows}\n" if rows else ""
    more = f"\nIt also has what [{base.__name__}](#{base.__name__.lower()}) has.\n" if base else ""
    return f"### {name}\n\n{words(found)}\n{more}{table}"


def signature(name: str, function: Any) -> str:
    """The call, with a parameter a line where it does not fit one line."""
    made = inspect.signature(function)
    returns = "" if made.return_annotation is made.empty else f" -> {made.return_annotation}"
    given = [parameter(p) for p in made.parameters.values()]
    star = next((i for i, p in enumerate(made.parameters.values()) if p.kind is p.KEYWORD_ONLY), None)
    given = given if star is None else [*given[:star], "*", *given[star:]]
    short = f"{name}({', '.join(given)}){returns}"
    return short if len(short) <= 100 else f"{name}(\n" + "".join(f"    {one},\n" for one in given) + f"){returns}"


def parameter(given: inspect.Parameter) -> str:
    """A parameter as it is written: its type without quotes, its default with them."""
    stars = {given.VAR_POSITIONAL: "*", given.VAR_KEYWORD: "**"}.get(given.kind, "")
    kind = "" if given.annotation is given.empty else f": {given.annotation}"
    default = "" if given.default is given.empty else f" = {given.default!r}"
    return f"{stars}{given.name}{kind}{default}"


def words(found: Any) -> str:
    """The docstring as Markdown: its text as it is, its indented lines as blocks of code."""
    text = inspect.cleandoc(found.__doc__ or "")
    return "" if re.match(rf"{getattr(found, '__name__', '')}\(", text) else text  # a dataclass's own


def returned(member: Any) -> str:
    """What a member without words gives."""
    function = getattr(member, "fget", None) or getattr(member, "func", None) or member
    return f"`{function.__annotations__.get('return', '')}`"


def members(found: type) -> Iterator[tuple[str, str]]:
    """The public fields, properties and methods of a class, in their order, with the first sentence of each."""
    for field in getattr(found, "__dataclass_fields__", {}).values():
        if not field.name.startswith("_") and "ClassVar" not in str(field.type):
            yield str(field.name), f"`{field.type}`".replace("|", "\\|")
    seen: dict[str, Any] = {}
    for kind in reversed([one for one in found.__mro__ if one.__module__.startswith("assay")]):
        seen |= {name: value for name, value in vars(kind).items() if not name.startswith("_")}
    for name, value in seen.items():
        inner = value.__func__ if isinstance(value, classmethod | staticmethod) else value
        if inspect.isfunction(inner) or isinstance(inner, property | cached_property):
            text = (inspect.getdoc(getattr(found, name)) or "").split("\n\n")[0].replace("\n", " ") or returned(inner)
            yield name + "()" * inspect.isfunction(inner), text.replace("|", "\\|")
