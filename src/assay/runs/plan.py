"""The plan of a run: a pure function of what is read, how it is explained, and the size of a shard.

Shard k holds the rows [k size, (k + 1) size). The plan's digest stands in every shard; where a directory holds another
plan, the run is refused with a list of what differs. Everything that can change a bit of the results is in the plan:
the digest of the input and of the model's weights, all parameters, versions, the device, and the number of threads
(sums are split among threads, and the order of a sum decides its last bits). The executor and its workers are not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from hashlib import blake2b
from math import ceil
from pathlib import Path
from typing import Any

from assay.errors import BadFile, BadInput
from assay.storage.durable import write_whole

FILE = "plan.json"
_NAMED = 4  # differences that an error spells out


@dataclass(frozen=True)
class RunPlan:
    """`settings` decide the results, `notes` are for people: where the input lay, the command."""

    settings: Mapping[str, Any]
    notes: Mapping[str, Any]

    @property
    def rows(self) -> int:
        return int(self.settings["input"]["rows"])

    @property
    def shard_size(self) -> int:
        return int(self.settings["shard_size"])

    @property
    def shards(self) -> int:
        return ceil(self.rows / self.shard_size)

    @property
    def methods(self) -> list[str]:
        return list(self.settings["methods"])

    @property
    def checks(self) -> list[str]:
        return list(self.settings["checks"])

    @cached_property
    def digest(self) -> str:
        return blake2b(_canonical(self.settings), digest_size=16).hexdigest()

    def rows_of(self, shard: int) -> range:
        start = shard * self.shard_size
        return range(start, min(start + self.shard_size, self.rows))

    def differences(self, other: RunPlan) -> list[str]:
        """What the other plan has otherwise, in words."""
        mine, others = dict(_flat(self.settings)), dict(_flat(other.settings))
        names = [name for name in dict.fromkeys([*mine, *others]) if mine.get(name) != others.get(name)]
        return [f"{name} was {_shown(mine.get(name))}, is {_shown(others.get(name))}" for name in names]

    def save(self, directory: Path) -> None:
        write_whole(directory / FILE, json.dumps({"settings": self.settings, "notes": self.notes}, indent=1).encode())

    @classmethod
    def at(cls, directory: Path) -> RunPlan:
        """The plan that a directory holds."""
        path = directory / FILE
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            found = cls(dict(data["settings"]), dict(data["notes"]))
            _ = (found.rows, found.shards, found.methods, found.checks, found.notes["command"])
            return found
        except FileNotFoundError:
            raise BadFile(f"{directory} holds no run (there is no {FILE} in it).") from None
        except (OSError, ValueError, KeyError, TypeError, ZeroDivisionError) as error:
            problem = f"{path} cannot be read as a plan: {error}"
            hint = "if it is that of a run, delete it, and the same command makes it again"
            raise BadFile(f"{problem}; {hint}.") from error


def agreed(directory: Path, plan: RunPlan) -> RunPlan:
    """The plan to follow: the one on disk where it says the same, else this one, now on disk."""
    if not (directory / FILE).exists():
        plan.save(directory)
        return plan
    there = RunPlan.at(directory)
    if differs := there.differences(plan):
        raise BadInput(_refusal(directory, there, plan, differs))
    return there


def _refusal(directory: Path, there: RunPlan, plan: RunPlan, differs: list[str]) -> str:
    """Where only the input differs, it is the file that was changed and not the command."""
    if all(one.startswith(("input.digest", "input.rows")) for one in differs):
        was = f"{directory} holds a run of another {plan.notes['input']}: {'; '.join(differs)}."
        return f"{was} Use another --out, or put the old file back and go on: {there.notes['command']}"
    if all(one.startswith("model.fingerprint") for one in differs):
        was = f"{directory} holds a run of another {plan.settings['model']['name']}: the model was changed since"
        hint = f"put the old one back and go on: {there.notes['command']}"
        return f"{was}, and results of two models are not mixed. Use another --out, or {hint}"
    more = f"; and {len(differs) - _NAMED} more" if len(differs) > _NAMED else ""
    return (
        f"{directory} holds a run with other settings: {'; '.join(differs[:_NAMED])}{more}. "
        f"Use another --out, or the same command as before: {there.notes['command']}"
    )


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, ensure_ascii=True).encode()


def _flat(settings: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(settings, Mapping) and settings:
        for key, value in settings.items():
            yield from _flat(value, f"{name}.{key}" if name else str(key))
    else:
        yield name, settings


def _shown(value: Any) -> str:
    return "not there" if value is None else f"{value!r:.80}"
