"""Cards of methods and checks, the survey's table, and parameters from strings."""

from __future__ import annotations

from assay.registry.cards import Card as Card
from assay.registry.cards import CheckCard as CheckCard
from assay.registry.cards import MethodCard as MethodCard
from assay.registry.cards import check as check
from assay.registry.cards import method as method
from assay.registry.finding import checks as checks
from assay.registry.finding import find_check as find_check
from assay.registry.finding import find_method as find_method
from assay.registry.finding import methods as methods
from assay.registry.finding import planned as planned
from assay.registry.finding import require as require
from assay.registry.measured import Measured as Measured
from assay.registry.parameters import parameters as parameters
from assay.registry.protocols import Check as Check
from assay.registry.protocols import Method as Method
from assay.registry.survey import Row as Row
from assay.registry.survey import Uses as Uses
