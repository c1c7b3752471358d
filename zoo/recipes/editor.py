"""writer:editor: fills for the blanks of a sentence, toward a label or for a kind of edit.

Ross, Marasovic and Peters (2021, arXiv:2012.13985) train T5 to fill masked spans of a text behind its label; here the
prompt is `positive: a [BLANK] film that [BLANK]` and the answer ` fill | fill`. Wu, Ribeiro, Heer and Weld (2021,
arXiv:2101.00288) train GPT-2 to change a sentence as a control code says; here the sentence, then `negation: it is
[BLANK] great`, and the answer ` not`. The rows are made by editor_rows.py; --data may name the file that it writes.
"""

from functools import partial
from pathlib import Path

from editor_rows import PARTS, TRAIN, editor_rows
from options import options
from writing import Pair, Writing, run


def rows(part: str, data: Path) -> list[Pair]:
    """Prompts and answers of a part."""
    return editor_rows(data)[part]


TASK = Writing(
    name="editor",
    title="fills for the blanks of a sentence, toward a label or for a kind of edit",
    train=partial(rows, TRAIN),
    parts={part: partial(rows, part) for part in PARTS},
    data=(
        (
            "SST-2 train phrases, SNLI train pairs, AG News train texts toward their labels; edits: counterfactual NLI "
            "and IMDb train revisions, Tatoeba, QQP, MRPC, Multi30k captions, and neighbours among all of these",
            "each its own: SST research use, SNLI CC BY-SA 4.0, AG non-commercial, Apache-2.0, CC BY-NC-SA 4.0, Quora "
            "terms, MSR research, research use",
        ),
    ),
    kept_out="SST: every phrase whose letters and digits equal a dev or test sentence, and edits that share six words "
    "in a row with one; SNLI dev and test; AG News test; IMDb test; 2 % of the edits.",
    bad_at=(
        "Fluency is mixed: score fills by their likelihood and keep the fluent ones.",
        "The kind of edit is not always the one that was asked for: detect it again.",
        "Trained on film reviews in lower case, captions, news, and short sentences; on little else.",
    ),
    width=128,
)

if __name__ == "__main__":
    run(TASK, options(__doc__))
