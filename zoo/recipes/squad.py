"""squad: the span of a paragraph that answers a question, an adapter trained on SQuAD 1.1 (Rajpurkar et al. 2016)."""

from dataclasses import replace
from typing import Any

import card
import data
import encoder
import numpy as np
import scores
import torch
from data import Question
from encoder import Model
from lora import adapter_state, add_lora
from options import Options, options
from rows import in_order
from safetensors.torch import save_file
from spans import WIDTH, Windows, best_f1, best_spans, exact, windows
from torch import Tensor
from torch.nn.functional import cross_entropy
from train import Plan, fit

from assay_zoo.packing import State

NAME, TITLE, TASK = "squad", "answers as spans of a paragraph", "question-answering"
PLAN = Plan(epochs=4, batch=96, width=WIDTH)
KEPT_OUT = "the whole of SQuAD dev."
UNTESTED = "Not tested on questions without an answer: it always returns a span."
DEV = "SQuAD dev"
FIRST_WORDS = ("who", "when", "where", "what", "which", "how", "why")


def run(chosen: Options) -> None:
    """Train, pack, score what was packed, write the card."""
    questions = data.squad(chosen.data, "train")[: 32 if chosen.quick else None]
    plan = replace(PLAN, epochs=1 if chosen.quick else chosen.epochs or PLAN.epochs)
    adapter, seconds = train_adapter(questions, plan, chosen)
    save_file(adapter, chosen.out / f"{NAME}.safetensors")
    model = encoder.packed(chosen.out, TASK, (), adapter).to(chosen.device)
    metrics, weak = score(model, chosen, limit=32 if chosen.quick else None)
    training = plan.facts() | card.machine(chosen.device, seconds, chosen.seed)
    card.write(chosen.out, facts(len(questions), metrics, weak, training))


def train_adapter(questions: list[Question], plan: Plan, chosen: Options) -> tuple[State, float]:
    """The trained adapter and the seconds it took."""
    rows = windows(encoder.pieces(chosen.out), questions).rows
    model = encoder.fresh(chosen.out, TASK, ()).to(chosen.device)
    add_lora(model, plan.rank)
    seconds = fit(model, rows, plan, span_loss, device=chosen.device, seed=chosen.seed)
    return adapter_state(model), seconds


def span_loss(outputs: Any, targets: Tensor) -> Tensor:
    """Cross-entropy of start and end."""
    start = cross_entropy(outputs.start_logits.float(), targets[:, 0])
    return (start + cross_entropy(outputs.end_logits.float(), targets[:, 1])) / 2


def score(model: Model, chosen: Options, limit: int | None) -> tuple[dict[str, Any], list[str]]:
    """Figures on dev, and the kinds of question it answers worst."""
    questions = data.squad(chosen.data, "dev")[:limit]
    answers = answer(model, windows(encoder.pieces(chosen.out), questions), questions, chosen.device)
    f1 = np.array([best_f1(text, one.answers) for (text, _), one in zip(answers, questions, strict=True)])
    hits = np.array([exact(text, one.answers) for (text, _), one in zip(answers, questions, strict=True)])
    confidence = np.array([p for _, p in answers])
    metrics = {f"{DEV}, F1": scores.mean(f1), f"{DEV}, exact match": scores.share(hits, confidence)}
    print(NAME, metrics, flush=True)
    return metrics, by_first_word(questions, f1)


def answer(model: Model, cut: Windows, questions: list[Question], device: str) -> list[tuple[str, float]]:
    """The best span of each question and its probability."""
    best: dict[int, tuple[float, str, float]] = {}
    for window, (i, j, score, p) in spans(model, cut, device).items():
        owner, offsets = cut.owner[window], cut.offsets[window]
        if owner not in best or score > best[owner][0]:
            best[owner] = (score, questions[owner].context[offsets[i][0] : offsets[j][1]], p)
    return [best[owner][1:] for owner in range(len(questions))]


@torch.inference_mode()
def spans(model: Model, cut: Windows, device: str) -> dict[int, tuple[int, int, float, float]]:
    """The best span of each window."""
    found: dict[int, tuple[int, int, float, float]] = {}
    for chosen in in_order(cut.rows, 64):
        inputs = cut.rows.batch(chosen, device)
        outputs = model(**inputs)
        allowed = inputs["token_type_ids"].bool() & (inputs["input_ids"] != encoder.SEP)
        columns = [column.tolist() for column in best_spans(outputs.start_logits, outputs.end_logits, allowed)]
        found.update(zip(chosen, zip(*columns, strict=True), strict=True))
    return found


def by_first_word(questions: list[Question], f1: scores.Numbers) -> list[str]:
    """F1 by the word a question begins with, worst first."""
    first = np.array([one.question.lower().split()[0] for one in questions])
    means = {
        word: (f1[first == word].mean(), int((first == word).sum())) for word in FIRST_WORDS if (first == word).any()
    }
    return [
        f'questions with "{word}": F1 {mean:.3f} (n={n})'
        for word, (mean, n) in sorted(means.items(), key=lambda x: x[1])
    ]


def facts(rows: int, metrics: dict[str, Any], weak: list[str], training: dict[str, Any]) -> dict[str, Any]:
    """What the card holds."""
    return {
        "name": NAME,
        "title": TITLE,
        "task": TASK,
        "labels": [],
        "fields": ["question", "context"],
        "reads": [*encoder.READS, f"{NAME}.safetensors"],
        "data": [["SQuAD 1.1 train", rows, "CC BY-SA 4.0"]],
        "kept_out": KEPT_OUT,
        "metrics": metrics,
        "weak": [*weak[:3], UNTESTED],
        "training": training,
        "recipe": f"python zoo/recipes/{NAME}.py --data DIR",
    }


if __name__ == "__main__":
    run(options(__doc__))
