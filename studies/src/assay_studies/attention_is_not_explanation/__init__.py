"""Attention is not Explanation: does attention tell why a model said what it said?

Jain and Wallace (2019), arXiv:1902.10186. Recurrent, convolutional and feed-forward encoders with one attention are
trained on the paper's datasets and audited on their test texts: does attention rank words as gradients and
leave-one-out do (Table 2, Figures 2, 6 to 8), does the answer change when it is shuffled (Figure 3), is there a very
different attention with the same answer (Figures 4, 5). Departures: GloVe vectors of 50 dimensions; datasets as far as
they are to be had (each says its sizes). `site` writes a site to browse: DIR/site/index.html.
"""

from __future__ import annotations

from assay_studies.attention_is_not_explanation import agreement, counterfactuals, models_and_data, site
from assay_studies.attention_is_not_explanation.jobs import jobs
from assay_studies.attention_is_not_explanation.sizes import Sizes
from assay_studies.attention_is_not_explanation.tasks import tasks
from assay_studies.study import Study

STUDY = Study(
    name="attention_is_not_explanation",
    title="Attention is not Explanation: does attention tell why?",
    paper="Jain and Wallace (2019), arXiv:1902.10186",
    sizes=Sizes,
    version=3,
    tasks=tasks,
    parts=(models_and_data.PART, agreement.PART, counterfactuals.PART),
    facts=lambda run: [("Models", f"{len(run.tasks)}, in models/ of the run")],
    more_facts=lambda _: [("To browse", "site/index.html of the run")],
    notes=lambda run: [
        "MIMIC (anemia, diabetes), CNN and ADR are not to be had freely; readers for them are in "
        "assay_studies.data.jain_wallace."
    ],
    jobs=lambda run: jobs(run.tasks),
    finish=lambda run: site.write(run.tasks, run.store),
)
