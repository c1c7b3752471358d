"""Numbers with their intervals, as every table of a study has them; see `assay.statistics.intervals`."""

from __future__ import annotations

from assay.statistics.intervals import Estimate as Estimate
from assay.statistics.intervals import Statistic as Statistic
from assay.statistics.intervals import difference as difference
from assay.statistics.intervals import estimate as estimate
from assay.statistics.intervals import f1 as f1
from assay.statistics.intervals import mean as mean
from assay.statistics.intervals import ratio as ratio
