"""A row of a dataset, as the readers of published formats make it; see assay.text.example."""

from assay.text.example import Example as Example
from assay.text.example import Mark as Mark
from assay.text.example import joined as joined
from assay.text.example import runs as runs
