"""Numbers with their intervals, as every table of a study has them; see `assay.estimates`."""

from __future__ import annotations

from assay.estimates import Estimate as Estimate
from assay.estimates import Statistic as Statistic
from assay.estimates import difference as difference
from assay.estimates import estimate as estimate
from assay.estimates import f1 as f1
from assay.estimates import mean as mean
from assay.estimates import ratio as ratio
