"""A site of all audits, to be browsed without a server: an index by dataset, encoder and attention, a page for each.

DIR/site/index.html         a row for each dataset, a link and four numbers for each model
DIR/site/NAME.html          the audit of one model, as `assay audit-attention --html` writes it
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.views.templating import environment
from assay_studies.attention_is_not_explanation.tasks import TITLES, Task
from assay_studies.kept import Kept


def write(listed: Sequence[Task], kept: Kept) -> None:
    place = kept.out / "site"
    for task in listed:
        kept.write(place / f"{task.setting.name}.html", task.audit.to_html().encode())
    kept.write(place / "index.html", index(listed).encode())


def index(listed: Sequence[Task]) -> str:
    ways = list(dict.fromkeys((t.setting.encoder, t.setting.attention) for t in listed))
    rows = []
    for dataset in dict.fromkeys(t.setting.dataset for t in listed):
        mine = {(t.setting.encoder, t.setting.attention): t for t in listed if t.setting.dataset == dataset}
        rows.append((TITLES[dataset], [_cell(mine.get(way)) for way in ways]))
    columns = [f"{encoder}, {attention}" for encoder, attention in ways]
    return environment("assay_studies").get_template("attention_site.html.j2").render(columns=columns, rows=rows)


def _cell(task: Task | None) -> dict[str, str] | None:
    if task is None:
        return None
    group = task.audit.all
    tau = group.correlations["attention_gradient"].mean
    return {
        "link": f"{task.setting.name}.html",
        "texts": f"{len(task.audit):,}",
        "tau": "–" if tau is None else f"{tau.value:.2f}",
        "tvd": f"{group.median_tvd.value:.2f}",
        "jsd": f"{group.jsd.value:.2f}",
    }
