"""Scores that somebody else's tool made of one text, in the forms that people have them.

    [0.1, -0.4, ...]                  an array or tensor: a number a word, or a piece of the model's tokenizer
    [("a", 0.1), ("fine", -0.4)]      pairs; LIME's `as_list` too, where a word counts for all its places
    {"words": [...], "scores": [...]} a dictionary, a line of `assay explain --json` too; or {"a": 0.1, "fine": -0.4}
    shap.Explanation                  one text of it; the column of the explained label is taken
    a LIME explanation                of the explained label
    a ferret explanation              of the explained label
    an inseq or interpreto output     of one text; what a sequence of generated tokens rests on is summed over them
    TokenScores                       an explanation of ours

The libraries are recognised by what their objects have; none of them is imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from assay.errors import BadInput
from assay.explanations.token_scores import TokenScores
from assay.statistics.arrays import Floats


@dataclass(frozen=True)
class ForeignScores:
    """Tokens and their scores; without tokens, scores of what the model reads: its words, or its pieces."""

    scores: Floats
    tokens: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not np.isfinite(self.scores).all():
            raise BadInput("the given scores hold NaN or infinity; no verdict is made of that.")
        if self.tokens is not None and len(self.tokens) != len(self.scores):
            raise BadInput(f"the given scores are {len(self.scores)} for {len(self.tokens)} tokens.")


@dataclass(frozen=True)
class Label:
    """The explained label, by its place and its name: other tools give scores for several."""

    index: int
    name: str
    others: tuple[str, ...] = ()


def foreign_scores(source: Any, label: Label) -> ForeignScores:
    """The scores of one text, whatever made them; an error says which forms there are."""
    if isinstance(source, ForeignScores):
        return source
    if isinstance(source, TokenScores):
        return ForeignScores(source.scores, source.words)
    if isinstance(source, Mapping):
        return _from_mapping(source, label)
    for marks, read in _LIBRARIES:
        if all(hasattr(source, mark) for mark in marks):  # foreign objects: nothing else says what they are
            return read(source, label)
    if isinstance(source, Sequence) and not isinstance(source, str) and source and _pair(source[0]):
        tokens, scores = zip(*source, strict=True)
        return ForeignScores(_numbers(scores), tuple(map(str, tokens)))
    return _from_array(source)


def _pair(item: Any) -> bool:
    return isinstance(item, tuple | list) and len(item) == 2 and isinstance(item[0], str)


def _from_mapping(source: Mapping[str, Any], label: Label) -> ForeignScores:
    tokens = source.get("words", source.get("tokens"))
    if "scores" not in source:
        return ForeignScores(_numbers(list(source.values())), tuple(map(str, source)))
    if tokens is None:
        return foreign_scores(source["scores"], label)
    return ForeignScores(_numbers(source["scores"]), tuple(map(str, tokens)))


def _from_array(source: Any) -> ForeignScores:
    """Numbers alone. Attributions of embeddings [pieces, size] are summed over the embedding, as captum does."""
    found = _numbers(source)
    if found.ndim > 1 and found.shape[0] == 1:
        found = found[0]
    if found.ndim == 2:
        return ForeignScores(found.sum(axis=1), warnings=("given as vectors: summed over the embedding",))
    if found.ndim != 1:
        raise BadInput(f"scores of one text are a row of numbers, not an array of shape {found.shape}.")
    return ForeignScores(found)


def _from_shap(source: Any, label: Label) -> ForeignScores:
    values, tokens = np.asarray(source.values), source.data
    if values.dtype == object or values.ndim > 2 or (len(tokens) and not isinstance(tokens[0], str)):
        if len(values) != 1:
            raise BadInput(f"this shap Explanation holds {len(values)} texts; give one for each text: explanation[i].")
        values, tokens = np.asarray(values[0]), tokens[0]
    if values.ndim == 2:
        values = values[:, _column(source, label, values.shape[1])]
    elif isinstance(source.output_names, str) and source.output_names in label.others:
        raise BadInput(f"the shap Explanation is of {str(source.output_names)!r}, not of {label.name!r}; give target=.")
    return ForeignScores(_numbers(values), tuple(map(str, tokens)))


def _column(source: Any, label: Label, columns: int) -> int:
    """The column of the label: by its name where shap knows names, else by its place."""
    names = source.output_names
    if isinstance(names, list | tuple) and label.name in names:
        return list(names).index(label.name)
    if columns == 1:
        return 0
    if label.index >= columns:
        raise BadInput(f"the shap Explanation has {columns} outputs, none of them {label.name!r}.")
    return label.index


def _from_lime(source: Any, label: Label) -> ForeignScores:
    known = list(source.local_exp)
    if label.index not in known:
        raise BadInput(
            f"the LIME explanation is of the labels {known}, not of {label.name!r} ({label.index}); "
            f"explain it too (labels=({label.index},)), or give target=."
        )
    tokens, scores = zip(*source.as_list(label=label.index), strict=True)
    return ForeignScores(_numbers(scores), tuple(tokens))


def _from_ferret(source: Any, label: Label) -> ForeignScores:
    if source.target is not None and source.target not in (label.index, str(label.index), label.name):
        raise BadInput(f"the ferret explanation is of {source.target!r}, not of {label.name!r} ({label.index}).")
    return ForeignScores(_numbers(source.scores), tuple(map(str, source.tokens)))


def _from_interpreto(source: Any, label: Label) -> ForeignScores:
    values = _numbers(source.attributions)
    if values.ndim == 2:
        classes = [] if source.classes is None else _numbers(source.classes).astype(int).ravel().tolist()
        if classes and label.index not in classes:
            raise BadInput(f"the attributions are of the classes {classes}, not of {label.name!r} ({label.index}).")
        values = values[classes.index(label.index)] if classes else values.sum(axis=0)
    return ForeignScores(values, tuple(map(str, source.elements)))


def _from_inseq(source: Any, label: Label) -> ForeignScores:
    if len(source.sequence_attributions) != 1:
        raise BadInput(
            f"this inseq output holds {len(source.sequence_attributions)} texts; give one for each text: "
            "output.sequence_attributions[i]."
        )
    return _from_inseq_sequence(source.sequence_attributions[0], label)


def _from_inseq_sequence(source: Any, label: Label) -> ForeignScores:
    """What the generated tokens together rest on: of the source, or of the prompt where there is none."""
    prompt = source.source_attributions is None
    values = _numbers(source.target_attributions if prompt else source.source_attributions)
    if values.ndim != 2:
        raise BadInput("this inseq output has a number for each dimension; give its aggregate().")
    tokens = [str(getattr(token, "token", token)) for token in (source.target if prompt else source.source)]
    size = source.attr_pos_start if prompt else len(tokens)
    return ForeignScores(np.nan_to_num(values[:size]).sum(axis=1), tuple(tokens[:size]))


def _numbers(source: Any) -> Floats:
    """A float64 array of an array, a list, or a tensor that may lie on a device."""
    if hasattr(source, "detach"):  # a tensor of torch, which is not imported for that
        source = source.detach().cpu().double().numpy()
    try:
        found = np.asarray(source, dtype=np.float64)
    except (TypeError, ValueError):
        found = np.array(np.nan)
    if found.ndim == 0:
        libraries = "shap, LIME, captum, ferret, inseq or interpreto"
        forms = f"an array, a list of (word, score), a dictionary, or what {libraries} give"
        raise BadInput(f"scores of a text are {forms}, not {source!r:.60}.")
    return found


# What the objects of other libraries have, and how they are read; the first that fits.
_LIBRARIES = (
    (("values", "base_values", "data", "output_names"), _from_shap),
    (("as_list", "local_exp", "domain_mapper"), _from_lime),
    (("tokens", "scores", "explainer", "target"), _from_ferret),
    (("attributions", "elements", "classes"), _from_interpreto),
    (("sequence_attributions",), _from_inseq),
    (("source", "target", "source_attributions", "target_attributions"), _from_inseq_sequence),
)
