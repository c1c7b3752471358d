"""How adversaries are trained, and what a TVD of this study counts: as the released code has both.

The paper defines the TVD over all labels. The released code has one probability for the two labels and takes half of
its difference, in training and in what it reports: half of the definition. So lambda means there what twice lambda
means under the definition, and the printed numbers stand beside ours only if ours are counted like them.
"""

from __future__ import annotations

from assay.training.adversary import Variant, counted_share

VARIANT: Variant = "released"
COUNTED = counted_share(VARIANT, labels=2)
