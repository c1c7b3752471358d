"""HotFlip beside the HotFlip algorithms of LIT and of TextAttack, priced on the same model in one run.

    python benchmarks/flip_peers.py --file FILE [--column sentence] [--texts 60] [--model sst2] [--device cuda]
        [--repeats 3] [--versions 5] [--flips 3]

Neither package is run: LIT brings a server of its own, and TextAttack does not import on transformers 5. What they do
is written here in plain torch, from their papers' and packages' descriptions, without what stands around it:

one by one     LIT: a gradient of the text gives each of the `places` words with the largest gradient its best
               replacement; all sets of up to `flips` of these are tried, small ones first, but none that holds a set
               that flips, each by a prediction of its own, which computes gradients too, as LIT's models give them
               with every prediction; it ends when `versions` of them flip (5, of up to 3 flips, as there)
text by text   TextAttack: a beam search of one text after the other; each version of the beam has a gradient of its own
               and a batch of its own for its best `candidates` replacements
ours           the engine: the versions of all texts together, the most promising first; it ends when `versions` flip

On a CPU a batch of one text keeps the machine busy already, so that little is won by more company; on a GPU a batch of
one text leaves most of it idle.
Beam, candidates and flips are those of ours. (TextAttack's recipe as it comes takes the one best replacement of each
version, so that its beam never has more than one: it is quicker, and a greedy search.) Constraints are left out
everywhere: any word may go and come. A turn is all texts once; the contestants take turns, and the ratio is that of
times in the same turn. How many rows each of them asked of the model, and how many of these with a gradient, stands
below.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, islice
from typing import Any

import torch
from torch import Tensor

import assay
from assay.models.transformers.handlers.replacements import _usable
from assay.text.sample import Sample
from race import Ours, compare

BEAM, CANDIDATES, PLACES = 5, 30, 10
Ids = list[int]


@dataclass
class Bare:
    """A classifier, the ids of words that may come in, and what was found."""

    model: Any
    tokenizer: Any
    usable: Tensor
    flipped: int = 0
    rows: int = 0
    gradients: int = 0

    def begin(self) -> None:
        self.flipped = self.rows = self.gradients = 0

    def predict(self, rows: Sequence[Ids]) -> Tensor:
        self.rows += len(rows)
        with torch.no_grad():
            return self.model(input_ids=torch.tensor(rows, device=self.model.device)).logits

    def gradient(self, ids: Ids, target: int | None = None) -> tuple[Tensor, Tensor]:
        """Logits, and the gradient of the log-odds of a label (the likeliest) at the embeddings [pieces, size]."""
        self.gradients += 1
        with torch.no_grad():
            embedded = self.model.get_input_embeddings()(torch.tensor([ids], device=self.model.device))
        embedded.requires_grad_()
        logits = self.model(inputs_embeds=embedded).logits[0]
        chosen = int(logits.argmax()) if target is None else target
        (found,) = torch.autograd.grad(2 * logits[chosen] - logits.sum(), embedded)
        return logits, found[0]

    def changes(self, ids: Ids, gradient: Tensor) -> Tensor:
        """First-order changes of all replacements [pieces, usable]; the special tokens at both ends stay."""
        table = self.model.get_input_embeddings().weight.detach()
        old = (gradient * table[torch.tensor(ids, device=table.device)]).sum(-1)
        found = gradient @ table[self.usable].T - old[:, None]
        found[[0, -1]] = torch.inf
        return found


def one_by_one(bare: Bare, texts: Sequence[Ids], flips: int, enough: int) -> None:
    bare.begin()
    bare.flipped = sum(minimal_sets(bare, ids, flips, enough) > 0 for ids in texts)


def minimal_sets(bare: Bare, ids: Ids, flips: int, enough: int) -> int:
    """How many sets of places flip, none of which holds another that does."""
    logits, gradient = bare.gradient(ids)
    target = int(logits.argmax())
    best = bare.changes(ids, gradient).min(dim=1)
    order = [i for i in gradient.norm(dim=-1).argsort(descending=True).tolist() if 0 < i < len(ids) - 1][:PLACES]
    found: list[set[int]] = []
    for places in (set(some) for size in range(1, flips + 1) for some in combinations(order, size)):
        if len(found) == enough:
            break
        if any(one <= places for one in found):
            continue
        new = [int(bare.usable[best.indices[i]]) if i in places else old for i, old in enumerate(ids)]
        if int(bare.gradient(new, target)[0].argmax()) != target:
            found.append(places)
    return len(found)


def text_by_text(bare: Bare, texts: Sequence[Ids], flips: int) -> None:
    bare.begin()
    bare.flipped = sum(beam_search(bare, ids, flips) for ids in texts)


def beam_search(bare: Bare, ids: Ids, flips: int) -> bool:
    target = int(bare.predict([ids])[0].argmax())
    beam = [ids]
    for _ in range(flips):
        tried: dict[tuple[int, ...], float] = {}
        for version in beam:
            changes = bare.changes(version, bare.gradient(version, target)[1])
            for changed in (i for i, (a, b) in enumerate(zip(ids, version, strict=True)) if a != b):
                changes[changed] = torch.inf
            best = changes.flatten().topk(CANDIDATES, largest=False).indices.tolist()
            new = []
            for place in best:
                i, word = divmod(place, len(bare.usable))
                new.append([*version[:i], int(bare.usable[word]), *version[i + 1 :]])
            chances = bare.predict(new).softmax(-1)[:, target].tolist()
            tried |= dict(zip(map(tuple, new), chances, strict=True))
        rows = sorted(tried, key=tried.__getitem__)
        if int(bare.predict([list(rows[0])])[0].argmax()) != target:
            return True
        beam = [list(row) for row in rows[:BEAM]]
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--file", required=True)
    parser.add_argument("--column", default="sentence")
    parser.add_argument("--texts", type=int, default=60)
    parser.add_argument("--model", default="sst2")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--versions", type=int, default=5)
    parser.add_argument("--flips", type=int, default=3)
    given = parser.parse_args()
    texts = [row.strings[0] for row in islice(Sample.of(given.file, text=given.column), given.texts)]
    model = assay.load(given.model, device=given.device)
    usable = torch.tensor([i for i, _ in _usable(model.network)], device=model.model.device)
    ids = [model.tokenizer(text, truncation=True)["input_ids"] for text in texts]
    lit, attack = (Bare(model.model, model.tokenizer, usable) for _ in range(2))
    settings = {"flips": given.flips, "beam": BEAM, "candidates": CANDIDATES, "versions": given.versions}
    ours = Ours(model, texts, "hotflip", stop_words="any", **settings)
    peers = {
        "one by one (LIT)": lambda: one_by_one(lit, ids, given.flips, given.versions),
        "text by text (TextAttack)": lambda: text_by_text(attack, ids, given.flips),
    }

    def notes() -> str:
        counts = [f"flipped by ours {sum(bool(e.edits) for e in ours.told)} of {len(texts)}"]
        for name, bare in (("one by one", lit), ("text by text", attack)):
            counts.append(f"by {name} {bare.flipped}: {bare.rows} rows, and {bare.gradients} with a gradient")
        return "".join(f"\n   {one}" for one in counts)

    compare(
        f"hotflip, {given.versions} versions of up to {given.flips} flips, {len(texts)} texts",
        ours,
        peers,
        given.repeats,
        notes,
    )


if __name__ == "__main__":
    main()
