"""A site of all audits, to be browsed without a server: an index by dataset, encoder and attention, a page for each.

DIR/site/index.html         a row for each dataset, a link and four numbers for each model
DIR/site/NAME.html          the audit of one model, as `assay audit-attention --html` writes it
"""

from __future__ import annotations

from collections.abc import Sequence

from assay.views.templating import environment
from assay_studies.attention_is_not_explanation.tasks import TITLES, Task, by_dataset
from assay_studies.store import Store


def write(listed: Sequence[Task], store: Store) -> None:
    place = store.out / "site"
    for task in listed:
        store.write(place / f"{task.setting.name}.html", task.audit.to_html().encode())
    store.write(place / "index.html", index(listed).encode())


def index(listed: Sequence[Task]) -> str:
    ways = list(dict.fromkeys(task.setting.way for task in listed))
    rows = []
    for dataset, tasks in by_dataset(listed).items():
        mine = {task.setting.way: task for task in tasks}
        rows.append((TITLES[dataset], [_cell(mine.get(way)) for way in ways]))
    columns = [", ".join(way) for way in ways]
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
