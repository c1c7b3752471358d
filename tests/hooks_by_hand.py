"""Interventions as one would write them by hand: hooks on modules found by name, one text and one site at a time."""

from __future__ import annotations

from typing import Any

import torch

from assay.questions.intervene import Site, Value


def parts(network: Any) -> list[tuple[Any, Any, Any]]:
    """By their names: each layer, the projection behind its heads, and the one behind its neurons."""
    if hasattr(network, "bert"):
        layers = network.bert.encoder.layer
        return [(layer, layer.attention.output.dense, layer.output.dense) for layer in layers]
    if hasattr(network, "model"):
        return [(layer, layer.self_attn.o_proj, layer.mlp.down_proj) for layer in network.model.layers]
    return [(layer, layer.attn.c_proj, layer.mlp.c_proj) for layer in network.transformer.h]


def units(part: str, tensor: torch.Tensor, heads: int = 2) -> torch.Tensor:
    """A view [rows, pieces, units, size]."""
    if part == "layer":
        return tensor[:, :, None]
    return tensor.unflatten(-1, (heads, -1)) if part == "head" else tensor[..., None]


def by_hand(network: Any, ids: Any, sites: tuple[Site, ...], value: Value, donor: Any = None) -> torch.Tensor:
    """One text and one donor at a time, without a batch: record, then replace; logits of all pieces or of the text."""

    def hooked(site: Site, change: Any) -> Any:
        layer, heads_end, neurons_end = parts(network)[site.layer]
        if site.part == "layer":

            def after(module: Any, args: Any, output: Any) -> Any:
                first = output if isinstance(output, torch.Tensor) else output[0]
                new = change(units("layer", first))[:, :, 0]
                return new if isinstance(output, torch.Tensor) else (new, *output[1:])

            return layer.register_forward_hook(after)
        end = heads_end if site.part == "head" else neurons_end

        def before(module: Any, args: Any) -> Any:
            changed = change(units(site.part, args[0]))
            return (changed.flatten(-2) if site.part == "head" else changed[..., 0],)

        return end.register_forward_pre_hook(before)

    recorded: dict[Site, torch.Tensor] = {}
    if donor is not None:
        handles = [hooked(site, lambda u, site=site: recorded.setdefault(site, u.clone())) for site in sites]
        network(**donor)
        for handle in handles:
            handle.remove()

    def replaced(site: Site, own: torch.Tensor) -> torch.Tensor:
        own = own.clone()
        at = slice(None) if site.position is None else [site.position % own.shape[1]]
        unit = slice(None) if site.unit is None else [site.unit]
        if donor is not None:
            theirs = recorded[site]
            source = slice(None) if site.position is None else [site.position % theirs.shape[1]]
            own[:, at, unit] = theirs[:, source][:, :, unit]
        else:
            own[:, at, unit] = 0 if value == "zero" else own.mean(1, keepdim=True).expand_as(own)[:, at][:, :, unit]
        return own

    handles = [hooked(site, lambda u, site=site: replaced(site, u)) for site in sites]
    with torch.no_grad():
        logits = network(**ids).logits
    for handle in handles:
        handle.remove()
    return logits
