"""A sample: texts, with labels, ids and marks where they have them, streamed from wherever they lie.

    sample = Sample.of("reviews.csv.gz", text="review", label="stars")      a file is read anew for each pass
    sample = Sample.of([("a fine film", "good"), ("a mess", "bad")])        a list is held
    for row in sample: row.text, row.label, row.id, row.position, row.marks

A sample is named by a digest of what its rows hold (blake2b over strings, labels and marks, in order), the same
whichever format they came from. No more than a row at a time is in memory, unless the source itself is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b
from itertools import accumulate, islice, pairwise
from typing import Any

import numpy as np

from assay.errors import AssayError, BadFile, BadInput, BadText
from assay.text import row_views
from assay.text.columns import Columns
from assay.text.example import Example
from assay.text.opening import SAVE_AS_UTF8
from assay.text.reading import read
from assay.text.row_views import Condition, InGroup, InShare, RowSource, counted
from assay.text.text import TextLike, strings_of

_MOST_GROUPS = 1000


@dataclass(frozen=True, eq=False)
class Sample:
    """Labelled texts; iterating raises at the first row that cannot be read, `rows` gives it with its error."""

    source: RowSource
    name: str = "sample"
    keyed: bool = False  # the rows have ids of their own

    def __repr__(self) -> str:
        return f"Sample({self.name!r})"

    @classmethod
    def of(
        cls,
        source: Any,
        *,
        text: str | None = None,
        pair: str | None = None,
        label: str | None = None,
        id: str | None = None,
        limit: int | None = None,
        name: str | None = None,
        form: str | None = None,
    ) -> Sample:
        """Read a path, a pandas frame, a datasets.Dataset, a list, or "-" for stdin; a Sample is taken as it is.

        `text`, `pair`, `label` and `id` name columns; without `text`, the column called text or the only one. A list
        holds texts, pairs (text, label), Examples, or dictionaries with these columns. `limit` takes the first rows
        only; `name` is what errors call rows that have no name of their own; `form` is the format of a file whose
        name does not say it.
        """
        columns = Columns(text, pair, id, label)
        if isinstance(source, Sample) and columns.wanted:
            raise BadInput(f"{source.name} is a Sample already; name its column {columns.wanted[0]!r} when it is made.")
        found = source if isinstance(source, Sample) else cls(*read(source, columns, name, form), id is not None)
        return found if limit is None else found.head(limit)

    def __iter__(self) -> Iterator[Example]:
        for row in self.source.rows():
            if row.error is not None:
                raise self._located(row)
            if not all(map(str.isascii, row.strings)):
                self._require_utf8(row)
            yield row

    def rows(self, start: int = 0, stop: int | None = None) -> Iterator[Example]:
        """The rows from `start` to before `stop`, one that cannot be read with its error."""
        return islice(self.source.rows(start), None if stop is None else max(0, stop - start))

    def __len__(self) -> int:
        return self._counted

    @cached_property
    def _counted(self) -> int:
        return counted(self.source)

    def __bool__(self) -> bool:
        return next(self.rows(), None) is not None

    @cached_property
    def digest(self) -> str:
        """A name for what the rows hold; ids are no part of it."""
        digest = blake2b(digest_size=16)
        for row in self:
            digest.update(row.content())
        return digest.hexdigest()

    @property
    def texts(self) -> Iterator[str | tuple[str, str]]:
        """The texts, one at a time."""
        return (row.text for row in self)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The names of the labels, each once, sorted."""
        return tuple(sorted({row.label for row in self if row.label is not None}))

    def require_labels(self) -> Sample:
        """This sample, or an error that says which row has no label."""
        for row in self:
            if row.label is None:
                raise BadInput(
                    f"row {row.position + 1} of {self.name} needs a label that is a string: "
                    "give each row as a pair (text, label), or name the column of labels."
                )
        return self

    def require_rows(self) -> Sample:
        """This sample, or an error where it is empty."""
        if not self:
            raise BadInput(f"there are no texts in {self.name}.")
        return self

    def head(self, size: int) -> Sample:
        """The first rows."""
        if size < 0:
            raise BadInput(f"a sample cannot be cut to {size} rows.")
        return replace(self, source=row_views.HeadRows(self.source, size))

    def pick(self, positions: Iterable[int]) -> Sample:
        """The rows at these positions, in the order of the sample, each once."""
        chosen = np.unique(np.fromiter(positions, dtype=np.int64))
        if len(chosen) and not 0 <= chosen[0] <= chosen[-1] < len(self):
            raise BadInput(f"{self.name} has {len(self)} rows; there is no row at {chosen[0]} or {chosen[-1]}.")
        return replace(self, source=row_views.PickedRows(self.source, chosen))

    def subsample(self, size: int, seed: int = 0) -> Sample:
        """So many rows, drawn by the seed, in the order of the sample; all of them where there are not so many."""
        if size < 0:
            raise BadInput(f"a sample cannot be cut to {size} rows.")
        return self.pick(np.random.default_rng(seed).permutation(len(self))[:size].tolist())

    def split(
        self, share: float | Mapping[str, float] | None = None, *, by: str | None = None, seed: int = 0
    ) -> dict[str, Sample]:
        """Parts by name: for each value of the column `by`; or train and dev, or the named shares, by the seed.

        By shares, the side of a row follows from the seed and its id alone (without an id column, from its text), so
        the sizes come out only about right, and no row changes sides when others are added.
        """
        conditions: Mapping[str, Condition]
        if by is not None and share is None:
            conditions = {value: InGroup(by, value) for value in self._groups(by)}
        elif share is not None and by is None:
            shares = share if isinstance(share, Mapping) else {"train": 1 - share, "dev": share}
            conditions = self._shares(shares, seed)
        else:
            raise BadInput("split a sample by a share, or by a column; say one of the two.")
        return {
            part: replace(self, source=row_views.WhereRows(self.source, condition), name=f"{self.name}, {part}")
            for part, condition in conditions.items()
        }

    def with_texts(self, texts: Sequence[TextLike]) -> Sample:
        """The same ids and labels with other texts."""
        if len(texts) != len(self):
            raise BadInput(f"{self.name} has {len(self)} rows and takes as many texts, not {len(texts)}.")
        return replace(self, source=row_views.RetextedRows(self.source, [strings_of(text) for text in texts]))

    def _groups(self, by: str) -> list[str]:
        found: set[str] = set()
        for row in self.source.rows(extra=(by,)):
            if row.error is not None:
                raise self._located(row)
            if (value := row.extra[by]) is None:
                raise BadInput(f"{self.name}, row {row.position + 1}: the column {by!r} is empty, so it has no part.")
            found.add(value)
            if len(found) > _MOST_GROUPS:
                raise BadInput(
                    f"the column {by!r} of {self.name} has more than {_MOST_GROUPS} values; split by another."
                )
        return sorted(found)

    def _shares(self, shares: Mapping[str, float], seed: int) -> dict[str, InShare]:
        edges = [0.0, *accumulate(shares.values())]
        if any(not 0 < share < 1 for share in shares.values()) or abs(edges[-1] - 1) > 1e-9:
            raise BadInput(f"shares lie between 0 and 1 and add up to 1, not {dict(shares)}.")
        edges[-1] = 1.0
        return {
            name: InShare(low, high, seed, self.keyed)
            for name, (low, high) in zip(shares, pairwise(edges), strict=True)
        }

    @contextmanager
    def naming(self, position: int) -> Iterator[None]:
        """What goes wrong with a row says which row of which sample it is."""
        try:
            yield
        except AssayError as error:
            raise type(error)(f"{self.name}, row {position + 1}: {error}") from error

    def _located(self, row: Example) -> AssayError:
        """The error of a row with the name of the sample and the row in it; a file's own errors name the line."""
        assert row.error is not None
        where = "" if isinstance(row.error, BadFile) else f"row {row.position + 1}: "
        return type(row.error)(f"{self.name}, {where}{row.error}")

    def _require_utf8(self, row: Example) -> None:
        """A byte that is no UTF-8 was read as a lone surrogate, which no text may hold."""
        for string in row.strings:
            try:
                string.encode()
            except UnicodeEncodeError as error:
                sign, place = ord(string[error.start]), f"at character {error.start}"
                if not 0xDC80 <= sign <= 0xDCFF:
                    raise BadText(f"{self.name}, row {row.position + 1} has a lone surrogate {place}.") from None
                raise BadFile(
                    f"{self.name}, row {row.position + 1} is not UTF-8 (byte 0x{sign - 0xDC00:02x} {place}); "
                    f"{SAVE_AS_UTF8}."
                ) from None


# What a method is given that describes the model alone: a sample without a row, told from one that is empty by mistake.
NO_SAMPLE = Sample.of([], name="no sample")
