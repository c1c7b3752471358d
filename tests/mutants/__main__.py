"""Plant small faults into the numeric core, one at a time, and see whether a test turns red: `make mutants`.

    python tests/mutants --sample 300            300 faults, drawn with --seed
    python tests/mutants --only statistics       all faults of the files whose path holds this word
    python tests/mutants --survivors             only those that survived before, after tests were added

Results are kept in out/mutants.jsonl, and a run that was stopped goes on where it was: a fault that was killed is not
tried again while its file is the same, one that survived not while the tests are the same. `make coverage` has to run
first: it finds out which tests run which line. Faults that no test can see stand in equivalent.toml with the reason.
"""

from __future__ import annotations

import argparse
import json
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from guards import OUT, Guards, core
from operators import Mutant, mutants
from trying import tried, warm_up

KEPT = OUT / "mutants.jsonl"
LEAST = 0.9


def main() -> None:
    options = _options()
    sources = {path: Path(path).read_text(encoding="utf-8") for path in core()}
    kept = _kept()
    chosen = _chosen(options, sources, kept)
    new = [m for m in chosen if not _settled(kept.get(m.key(sources[m.path])))]
    print(f"{len(chosen)} faults, {len(new)} of them to be tried", flush=True)
    for result in _tried(new, sources):
        kept[result["key"]] = result
    _report([kept[m.key(sources[m.path])] for m in chosen])


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sample", type=int, help="how many faults; all of them without it")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", action="append", help="a word in the path of the files")
    parser.add_argument("--survivors", action="store_true")
    return parser.parse_args()


def _chosen(options: argparse.Namespace, sources: dict[str, str], kept: dict[str, Any]) -> list[Mutant]:
    """The sample is drawn from the whole core, and stays the same where the code does: by digests, not by numbers."""
    found = [mutant for path, source in sources.items() for mutant in mutants(path, source)]
    if options.sample is not None:
        drawn = sorted(found, key=lambda m: _digest(f"{options.seed} {m.name(sources[m.path])}"))[: options.sample]
        found = [mutant for mutant in found if mutant in set(drawn)]
    if options.survivors:
        found = [m for m in found if kept.get(m.key(sources[m.path]), {}).get("result") == "survived"]
    return [m for m in found if not options.only or any(word in m.path for word in options.only)]


def _kept() -> dict[str, Any]:
    lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
    return {result["key"]: result for result in map(json.loads, lines)}


def _settled(result: dict[str, Any] | None) -> bool:
    return result is not None and (result["result"] != "survived" or result["tests"] == _tests())


def _tests() -> str:
    """A digest of all tests."""
    return _digest("\0".join(path.read_text(encoding="utf-8") for path in sorted(Path("tests").rglob("*.py"))))


def _digest(text: str) -> str:
    return blake2b(text.encode(), digest_size=8).hexdigest()


def _tried(new: Sequence[Mutant], sources: dict[str, str]) -> Iterable[dict[str, Any]]:
    guards = {path: Guards.of(path) for path in {mutant.path for mutant in new}}
    picked = [guards[m.path].tests(m.statement) for m in new]
    warm_up(sorted({test.split("::")[0] for tests in picked for test in tests}) or ["tests/statistics"])
    KEPT.parent.mkdir(exist_ok=True)
    with KEPT.open("a", encoding="utf-8") as file:
        for number, (mutant, tests) in enumerate(zip(new, picked, strict=True), start=1):
            original = sources[mutant.path]
            seconds = guards[mutant.path].expected(tests)
            result = tried(mutant.path, mutant.source(original), tests, seconds) if tests else "survived"
            before, after = mutant.diff(original)
            found = {"key": mutant.key(original), "path": mutant.path, "line": mutant.line, "result": result}
            found |= {"before": before, "after": after, "guards": len(tests), "tests": _tests()}
            print(f"{number}/{len(new)} {result:9}{mutant.path}:{mutant.line}  {after}", flush=True)
            file.write(json.dumps(found) + "\n")
            file.flush()
            yield found


def _report(results: Sequence[dict[str, Any]]) -> None:
    """Killed and survived by file, the survivors with their reasons; exit code 1 where too many live."""
    listed = tomllib.loads(Path(__file__).with_name("equivalent.toml").read_text(encoding="utf-8"))
    reasons = {(e["file"], e["before"], e["after"]): e["reason"] for e in listed.get("equivalent", [])}
    by_file: dict[str, Counter[str]] = defaultdict(Counter)
    for result in results:
        by_file[result["path"]][result["result"]] += 1
    for path, counts in sorted(by_file.items()):
        print(f"{path:62} killed {counts['killed'] + counts['timeout']:4}  survived {counts['survived']:4}")
    alive = [r for r in results if r["result"] == "survived"]
    explained = 0
    for result in alive:
        reason = reasons.get((result["path"], result["before"], result["after"]))
        explained += reason is not None
        print(f"\n{result['path']}:{result['line']}  ({result['guards']} tests)\n  - {result['before']}")
        print(f"  + {result['after']}\n    {reason or 'not explained'}")
    killed = len(results) - len(alive)
    share, of_rest = killed / max(1, len(results)), killed / max(1, len(results) - explained)
    print(f"\n{killed} of {len(results)} killed ({share:.1%}); {len(alive)} survived, {explained} of them explained")
    print(f"without those that no test can see: {of_rest:.1%}")
    raise SystemExit(int(share < LEAST))


main()
