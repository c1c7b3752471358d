"""The results of the sweep as a page: docs/architectures.md."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

Line = Mapping[str, Any]

NO_REASON = "The model cannot be asked that."

GROUPS: Mapping[str, Sequence[str]] = {
    "words taken away": ("leave_one_out", "kernel_shap", "partition_shap", "lime", "input_marginalization"),
    "gradients": (
        "gradient", "input_x_gradient", "integrated_gradients", "smooth_grad", "expected_gradients", "input_reduction",
    ),
    "attention": ("attention", "attention_rollout"),
    "value zeroing": ("value_zeroing",),
    "AttnLRP": ("attn_lrp",),
    "other words": ("replacements", "hotflip", "mice"),
    "training texts": ("tracin", "tracin_all_layers", "influence_functions", "lissa", "projections", "last_layer"),
    "states": ("states", "embeddings"),
    "heads and neurons": ("heads", "neurons"),
    "writing": ("written", "sampled", "likelihood"),
}  # fmt: skip

_HEAD = """<!-- Made by `make sweep`; edit tests/sweep/page.py. -->

# Architectures

Every architecture of transformers {version} that reads text, as its auto-mappings name it, with tiny random weights,
explained by 19 methods (of others what they ask is asked), and beside it the same number by a slow loop that knows
nothing of Assay: one row at a time, no padding, words deleted from the string, gradients by a hook, Shapley values over
all orders. A number is **right** if it is within 1e-4 of the largest score of its text, alone and in company of other
texts. Else Assay has to refuse, with a sentence. The last thing compared is the user's model itself: it must be as it
was.

{counts}

- **right**: all methods of the column give the loop's number; one that does not is named behind it, with its note.
- **refused**, for the reason of its note.
- **said so**: AttnLRP has no rule for something in the model, and its answer warns how much relevance is missing.

Of the newer methods some are compared as they are: `tracin` and exact `influence_functions` beside autograd's
gradients, one text at a time, and a damped solve, `lissa` beside its recursion written out; the versions of `hotflip`
and `mice`, and the chances that they tell, beside a bare forward pass. Of others what they ask the model is compared,
text by text: `replacements` (the first-order change by every word that is put in), `last_layer` (what the layer that
gives the logits reads: `representer_points`), `projections` (the gradient of all parameters, each of its numbers in its
place with its sign: `trak`, `assay index`), `states` and `embeddings` (probes, projections), `heads` and `neurons`
(single ones at zero or at their mean, by hooks: `natural_indirect_effect`, `compositional_neurons`), `written`,
`sampled` and `likelihood` (token after token, the whole text read again for each, drawn by the row's own numbers, and
with the token that ends a text: `cage`, `sea`, `sear`, `polyjuice`, behavioural probes). `sp_lime` and `anchors` ask
for predictions of versions, as `lime` does.

AttnLRP has no loop beside it: it is right if nothing is lost (its parts sum to the explained number, to 1 % of the
largest part), the same alone and in company. `input_reduction` is compared for classifiers, with a beam of 1. `random`
and `anchors` are not compared: they draw. Where all scores of a text are below a hundredth of the explained number, of
1, or of the terms that `input_x_gradient` sums, they are compared with that hundredth: smaller differences are
float32's.
(MiniMax normalises right behind its embeddings, so there the terms cancel: 15 is summed to 0.00004.)
"""


def page(lines: Sequence[Line], version: str, missing: Sequence[tuple[str, str]] = ()) -> str:
    """The whole page from the lines of a results file; `missing` have not been swept."""
    notes: dict[str, int] = {}
    swept = [line for line in lines if "cells" in line]
    rows = [_row(line, notes) for line in sorted(swept, key=lambda line: (line["kind"], line["task"]))]
    head = f"| architecture | task | {' | '.join(GROUPS)} |\n|---|---|{'---|' * len(GROUPS)}"
    reasons = "\n".join(f"{number}. {why}" for why, number in notes.items())
    made = _HEAD.format(version=version, counts=_counts(swept))
    return f"{made}\n{head}\n" + "\n".join(rows) + f"\n\n## Why refused\n\n{reasons}\n\n{_left_out(lines, missing)}"


def states(lines: Sequence[Line]) -> Counter[str]:
    return Counter(cell["state"] for line in lines for cell in line["cells"].values())


def _counts(swept: Sequence[Line]) -> str:
    found, kinds = states(swept), {line["kind"] for line in swept}
    methods = sum(map(len, GROUPS.values()))
    told = ", ".join(f"{found[state]:,} {name}" for state, name in _NAMES.items() if found[state] or state == "wrong")
    return (
        f"{len(kinds)} architectures, {len(swept)} models of them (an architecture at a task), "
        f"{methods} methods and questions, {sum(found.values()):,} cells: {told}."
    )


_NAMES = {"right": "right", "refused": "refused", "warned": "said so", "wrong": "wrong", "error": "errors"}


def _row(line: Line, notes: dict[str, int]) -> str:
    cells = [_cell({name: line["cells"].get(name) for name in names}, notes) for names in GROUPS.values()]
    return f"| {line['kind']} | {line['task']} | {' | '.join(cells)} |"


def _cell(cells: Mapping[str, Any], notes: dict[str, int]) -> str:
    """One cell of the page: what most of its methods do, and the others by name."""
    known = {name: cell for name, cell in cells.items() if cell}
    told = {name: _told(cell, notes) for name, cell in known.items()}
    if not told:
        return ""
    most = Counter(told.values()).most_common(1)[0][0]
    others = [f"`{name}` {one}" for name, one in told.items() if one != most]
    return "; ".join([most, *others])


def _told(cell: Mapping[str, Any], notes: dict[str, int]) -> str:
    state = _NAMES[cell["state"]]
    if cell["state"] in ("right", "warned"):
        return state
    return f"{state} [{notes.setdefault(reason(cell['why']), len(notes) + 1)}](#why-refused)"


def reason(why: str) -> str:
    """A refusal without the names of methods and models, so that like ones are one."""
    why = re.sub(r"^text \d+: ", "", why)
    after = "Of|None of|These methods|Methods of|No method of|With"
    found = re.search(rf"the model \S+ cannot answer(?: \w+)?(?:: (.*?))?\.(?:$| (?:{after}))", why)
    if found:
        why = found[1] or NO_REASON
    why = re.sub(r"\b\w+(For|LMHead|Model)\w*", "the model", why)
    why = re.sub(r"\b\w+Tokenizer(Fast)?\b", "its tokenizer", why)
    why = re.sub(r"\d+ x \d+( and \d+ x \d+)*|\b\d+ (pieces|times|layers|attention)", _without, why)
    return why[:1].upper() + why[1:].rstrip(".") + "."


def _without(match: re.Match[str]) -> str:
    return re.sub(r"\d+", "n", match[0])


def _left_out(lines: Sequence[Line], missing: Sequence[tuple[str, str]]) -> str:
    """What could not be made tiny, by reason, and what nobody has swept yet."""
    by: dict[str, list[str]] = {}
    if missing:
        by["not swept yet"] = [f"{kind} ({task})" for kind, task in missing]
    for line in lines:
        if "left_out" in line:
            by.setdefault(line["left_out"], []).append(f"{line['kind']} ({line['task']})")
    listed = "\n".join(f"- {why}: {', '.join(sorted(names))}." for why, names in sorted(by.items()))
    return f"## Left out\n\n{listed}\n"
