"""An adapter learns from teachers: the mean of their chances for every token, beside what people wrote.

Human explanations are few, and an adapter is small. So teachers are trained first, on the same pairs with all weights
of the writer's base, one for each rate. They write answers to prompts that nobody has answered (Kim and Rush 2016,
arXiv:1606.07947), and the adapter learns their mean p (Hinton et al. 2015, arXiv:1503.02531) with its own q:

    loss = -w log q(y) - (1 - w) [sum_t p(t) log q(t) + p(rest) log q(rest)],    w = 0 where a teacher wrote y

t runs over the teachers' likeliest tokens and y; the rest is all other tokens together, so that no chance is cut off.
Each stage is a file in a folder. A run that was stopped goes on with those that are there, and several processes with
the same folder share the work: each begins with another teacher.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from encoder import Model
from filelock import FileLock
from options import Options
from rows import in_order
from safetensors.torch import load_file, save_file
from torch import Tensor
from writing import QUICK_ROWS, Pair, Prompted, Writing, answer_logits, base, fit, prepared

from assay_zoo.packing import State
from assay_zoo.writer import END

NEVER = 1e-6  # no logarithm of zero


@dataclass(frozen=True)
class Teaching:
    """Who teaches, and how much is written and handed down."""

    prompts: Callable[[Path], list[str]]  # that nobody has answered
    rates: tuple[float, ...] = (1e-4, 2e-4, 3e-4)  # a teacher each
    steps: int = 700
    writes: int = 2  # answers to a prompt
    longest: int = 48  # tokens of such an answer
    kept: int = 32  # tokens with a chance of their own
    own: float = 0.5  # what a person's own words weigh against the teachers' chances


@dataclass(frozen=True)
class Taught(Prompted):
    """Rows with the teachers' chances for the likeliest tokens of every place of their answers."""

    tokens: Tensor
    chances: Tensor
    own: list[float]  # of each row
    begins: list[int]  # where the places of each row begin

    def places(self, chosen: Sequence[int]) -> Tensor:
        """The places of some rows, in the order of a batch."""
        return torch.cat([torch.arange(self.begins[i], self.begins[i] + length(self, i)) for i in chosen])

    def loss(self, model: Model, chosen: Sequence[int], device: str) -> Tensor:
        """The mean over all places of the batch."""
        ids, wanted = self.batch(chosen, device)
        logs = answer_logits(model, ids, wanted).log_softmax(-1)
        at = self.places(chosen)
        chances, known = self.chances[at].to(device).float(), logs.gather(1, self.tokens[at].to(device).long())
        rest = (1 - known.exp().sum(1)).clamp_min(NEVER).log()
        theirs = (chances * known).sum(1) + (1 - chances.sum(1)).clamp_min(0) * rest
        people = logs.gather(1, wanted[wanted >= 0][:, None])[:, 0]
        weights = torch.tensor([self.own[i] for i in chosen for _ in range(length(self, i))], device=device)
        return -(weights * people + (1 - weights) * theirs).mean()


def length(rows: Prompted, i: int) -> int:
    """How many tokens the answer of a row has."""
    return len(rows.ids[i]) - rows.starts[i]


def taught(
    teaching: Teaching,
    task: Writing,
    tokenizer: Any,
    pairs: list[Pair],
    chosen: Options,
    *,
    folder: Path | None = None,
    first: int = 0,
) -> Taught:
    """The rows that people answered and those that the teachers did, with the teachers' chances."""
    school = School(teaching, task, tokenizer, chosen, folder or chosen.out / f".{task.name}.teachers")
    school.folder.mkdir(parents=True, exist_ok=True)
    people = prepared(tokenizer, pairs, task.width)
    school.each("teacher", first, lambda new, k: school.teach(new, k, people))
    written = school.each("written", first, school.write)
    answered = [pair for part in written for pair in json.loads(part.read_text("utf-8"))]
    rows = joined(people, prepared(tokenizer, answered, task.width))
    parts = [load_file(part) for part in school.each("chances", first, lambda new, k: school.look(new, k, rows))]
    tokens, chances = (torch.cat([part[name] for part in parts]) for name in ("tokens", "chances"))
    own = [teaching.own] * len(people) + [0.0] * (len(rows) - len(people))
    ends = torch.tensor([length(rows, i) for i in range(len(rows))]).cumsum(0).tolist()
    return Taught(rows.ids, rows.starts, tokens, chances, own, [0, *ends[:-1]])


def joined(one: Prompted, two: Prompted) -> Prompted:
    """All rows of both."""
    return Prompted(one.ids + two.ids, one.starts + two.starts)


def made(path: Path, make: Callable[[Path], None]) -> None:
    """Make a file unless it is there; one process at a time, and it appears as a whole."""
    with FileLock(f"{path}.lock"):
        if not path.exists():
            new = path.with_name("new-" + path.name)
            make(new)
            new.replace(path)
            print(f"{path.name} is written", flush=True)


@dataclass(frozen=True)
class School:
    """The teachers of one adapter, and the folder where what they do is kept."""

    teaching: Teaching
    task: Writing
    tokenizer: Any
    chosen: Options
    folder: Path

    def __len__(self) -> int:
        return len(self.teaching.rates)

    def each(self, what: str, first: int, make: Callable[[Path, int], None]) -> list[Path]:
        """A file for each teacher, made in turns from the `first` one on."""
        paths = [self.folder / f"{what}-{k}" for k in range(len(self))]
        for k in ((first + i) % len(self) for i in range(len(self))):
            made(paths[k], partial(make, k=k))
        return paths

    def teach(self, new: Path, k: int, people: Prompted) -> None:
        """Train a teacher, with an order of the rows of its own."""
        model = base(self.chosen.base)[0].to(self.chosen.device).requires_grad_(True)
        plan = replace(self.task, steps=self.teaching.steps, rate=self.teaching.rates[k])
        fit(model, people, plan, replace(self.chosen, seed=self.chosen.seed + k + 1, steps=None), resumes=False)
        save_file({name: tensor.detach().half().cpu() for name, tensor in model.named_parameters()}, new)

    def teacher(self, k: int) -> Model:
        """A trained teacher."""
        model = base(self.chosen.base)[0]
        own = {name: tensor.float() for name, tensor in load_file(self.folder / f"teacher-{k}").items()}
        model.load_state_dict(own, strict=False)  # tied weights have one name among parameters
        return model.to(self.chosen.device).eval()

    def write(self, new: Path, k: int) -> None:
        """A teacher's answers to its share of the prompts."""
        prompts = self.teaching.prompts(self.chosen.data)[: QUICK_ROWS if self.chosen.quick else None]
        kind = torch.bfloat16 if self.chosen.device.startswith("cuda") else torch.float32
        torch.manual_seed(self.chosen.seed + k)
        asked = prompts[k :: len(self)] * self.teaching.writes
        found = answers(self.teacher(k).to(kind), self.tokenizer, asked, self.teaching.longest, self.chosen.device)
        new.write_text(json.dumps(found), "utf-8")

    def look(self, new: Path, k: int, rows: Prompted) -> None:
        """The chances of all teachers together for a share of the rows."""
        share = slice(len(rows) * k // len(self), len(rows) * (k + 1) // len(self))
        models = [self.teacher(i) for i in range(len(self))]
        save_file(
            chances(models, Prompted(rows.ids[share], rows.starts[share]), self.teaching.kept, self.chosen.device), new
        )


@torch.inference_mode()
def answers(model: Model, tokenizer: Any, prompts: list[str], longest: int, device: str) -> list[Pair]:
    """One sample from the model for each prompt, as it is distributed; those that do not end are left out."""
    end = tokenizer.convert_tokens_to_ids(END)
    coded = Prompted(tokenizer(prompts)["input_ids"], [])
    drawn = {"do_sample": True, "top_k": 0, "top_p": 1.0, "temperature": 1.0, "max_new_tokens": longest}
    drawn |= {"eos_token_id": end, "pad_token_id": end}
    found: list[Pair] = []
    for picked in in_order(coded, 2048 if device.startswith("cuda") else 16):
        width = max(len(coded.ids[i]) for i in picked)
        ids = torch.tensor([[end] * (width - len(coded.ids[i])) + coded.ids[i] for i in picked])
        seen = torch.tensor([[0] * (width - len(coded.ids[i])) + [1] * len(coded.ids[i]) for i in picked])
        whole = model.generate(ids.to(device), attention_mask=seen.to(device), **drawn)
        for i, row in zip(picked, whole[:, width:].tolist(), strict=True):
            text = tokenizer.decode(row[: row.index(end)], clean_up_tokenization_spaces=False) if end in row else ""
            found += [(prompts[i], text)] if text.strip() else []
    return found


@torch.inference_mode()
def chances(models: Sequence[Model], rows: Prompted, kept: int, device: str) -> State:
    """The models' mean chances of the likeliest tokens at each place of the answers, and of what stands there."""
    found: dict[int, tuple[Tensor, Tensor]] = {}
    for picked in in_order(rows, 64 if device.startswith("cuda") else 16):
        ids, wanted = rows.batch(picked, device)
        with torch.autocast(device.partition(":")[0], torch.bfloat16, enabled=device.startswith("cuda")):
            mean = answer_logits(models[0], ids, wanted).softmax(-1)
            for model in models[1:]:  # one after the other: the chances of a whole vocabulary are large
                mean += answer_logits(model, ids, wanted).softmax(-1)
            mean /= len(models)
        tokens, stands = mean.topk(min(kept, mean.shape[1])).indices, wanted[wanted >= 0]
        missing = ~(tokens == stands[:, None]).any(1)
        tokens[missing, -1] = stands[missing]
        sizes = [length(rows, i) for i in picked]
        parts = (tokens.int().cpu().split(sizes), mean.gather(1, tokens).half().cpu().split(sizes))
        found |= {i: (a, b) for i, a, b in zip(picked, *parts, strict=True)}
    in_turn = [found[i] for i in range(len(rows))]
    return {"tokens": torch.cat([a for a, _ in in_turn]), "chances": torch.cat([b for _, b in in_turn])}
