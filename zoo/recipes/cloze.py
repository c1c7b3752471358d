"""How well the masked language model fills one hidden piece at a time."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scores
import torch
from encoder import MASK, Model
from numpy.typing import NDArray
from rows import Rows, in_order
from scores import Numbers
from torch import Tensor
from transformers import BertTokenizer

PROMPTS = (
    "the film was absolutely [MASK].",
    "hot [MASK] balloons",
    "it 's a [MASK] and often affecting journey .",
    "the acting is [MASK] , but the story is dull .",
    "Paris is the capital of [MASK].",
    "she poured the [MASK] into a glass and drank it.",
    "a man is playing the [MASK] on stage.",
    "the [MASK] scored two goals in the second half.",
)


@dataclass(frozen=True)
class Cloze:
    """One row per hidden piece: the rows, where the piece stands, and whether it is a whole word."""

    rows: Rows
    places: Tensor
    whole: NDArray[np.bool_]


def hide_each(tokenizer: BertTokenizer, texts: Sequence[tuple[str, ...]], width: int = 128) -> Cloze:
    """Every piece of every text, hidden alone."""
    coded = tokenizer(*[list(column) for column in zip(*texts, strict=True)], truncation=True, max_length=width)
    ids, types, wanted, places, whole = [], [], [], [], []
    for row, kinds, encoding in zip(coded["input_ids"], coded["token_type_ids"], coded.encodings, strict=True):
        for place in (i for i, special in enumerate(encoding.special_tokens_mask) if not special):
            ids.append([*row[:place], MASK, *row[place + 1 :]])
            types.append(kinds)
            wanted.append(row[place])
            places.append(place)
            whole.append(is_word(encoding, place))
    return Cloze(Rows(ids, types, torch.tensor(wanted)), torch.tensor(places), np.array(whole))


def is_word(encoding: Any, place: int) -> bool:
    """Whether a piece is a whole word of letters."""
    key = (encoding.sequence_ids[place], encoding.word_ids[place])
    keys = zip(encoding.sequence_ids, encoding.word_ids, strict=True)
    return encoding.tokens[place].isalpha() and sum(other == key for other in keys) == 1


@torch.inference_mode()
def fill(model: Model, cloze: Cloze, *, device: str, size: int = 512) -> dict[str, Numbers]:
    """For each hidden piece: first guess right or not, its probability, that of the truth, and of the ten best."""
    table = torch.zeros(len(cloze.rows), 4, dtype=torch.float64)
    for chosen in in_order(cloze.rows, size):
        hidden = model.bert(**cloze.rows.batch(chosen, device)).last_hidden_state
        places = cloze.places[chosen].to(device)
        p = model.cls(hidden[torch.arange(len(chosen), device=device), places]).softmax(-1)
        table[chosen] = columns(p, cloze.rows.targets[chosen].to(device)).double().cpu()
    return dict(zip(("correct", "confidence", "truth", "mass"), table.numpy().T, strict=True))


def columns(p: Tensor, wanted: Tensor) -> Tensor:
    """The four numbers of each row."""
    top = p.topk(10).values
    truth = p.gather(1, wanted[:, None])[:, 0]
    return torch.stack([(p.argmax(-1) == wanted).float(), top[:, 0], truth, top.sum(-1)], dim=1)


def figures(model: Model, name: str, cloze: Cloze, *, device: str) -> dict[str, Any]:
    """What a card reports of one part."""
    found = fill(model, cloze, device=device)
    words = {key: column[cloze.whole] for key, column in found.items()}
    every = scores.share(found["correct"], found["confidence"])
    every |= {"pseudo_perplexity": float(np.exp(-np.log(found["truth"].clip(1e-12)).mean()))}
    every |= {"mass_of_ten": float(found["mass"].mean())}
    return {
        f"{name}, every wordpiece": every,
        f"{name}, whole words": scores.share(words["correct"], words["confidence"]),
    }


@torch.inference_mode()
def examples(model: Model, tokenizer: BertTokenizer, device: str) -> dict[str, list[tuple[str, float]]]:
    """The five best fills of each prompt."""
    return {text: five(model, tokenizer, text, device) for text in PROMPTS}


def five(model: Model, tokenizer: BertTokenizer, text: str, device: str) -> list[tuple[str, float]]:
    """The five best fills of one text."""
    inputs = tokenizer(text, return_tensors="pt").to(device)
    place = inputs["input_ids"][0].tolist().index(MASK)
    best = model(**inputs).logits[0, place].softmax(-1).topk(5)
    return [(str(tokenizer.convert_ids_to_tokens(int(i))), round(float(p), 4)) for p, i in zip(*best, strict=True)]
