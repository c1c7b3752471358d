"""What mkdocs does not do by itself: pages from outside docs/, and a place for pages that mkdocs.yml does not name.

A page that the nav of mkdocs.yml does not name goes into the section that its front matter names (`section: How to`),
or else into "More"; so a new page needs no change there.
"""

from __future__ import annotations

import re
from pathlib import Path
from posixpath import relpath
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils.meta import get_data

ROOT = Path(__file__).parent.parent
OUTSIDE = {  # files of the repository that the site shows as pages of these names
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changelog.md",
    "zoo/README.md": "zoo.md",
    "studies/README.md": "studies.md",
    "README.md": "index.md",
}


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the pages that the nav does not name."""
    nav: list[dict[str, Any]] = list(config.nav or [])
    named = set(_named(nav))
    for path in sorted(Path(config.docs_dir).rglob("*.md")):
        name = path.relative_to(config.docs_dir).as_posix()
        if name not in named:
            _section(nav, get_data(path.read_text(encoding="utf-8"))[1].get("section", "More")).append(name)
    config.nav = nav
    return config


def _named(nav: list[Any]) -> list[str]:
    """The files that a nav names."""
    entries = [value for entry in nav for value in (entry.values() if isinstance(entry, dict) else [entry])]
    return [name for value in entries for name in (_named(value) if isinstance(value, list) else [value])]


def _section(nav: list[dict[str, Any]], title: str) -> list[Any]:
    """The section of this title; made where there is none."""
    for entry in nav:
        if isinstance(entry.get(title), list):
            pages: list[Any] = entry[title]
            return pages
    made: list[Any] = []
    nav.append({title: made})
    return made


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages from outside docs/."""
    for source, name in OUTSIDE.items():
        if files.get_file_from_path(name) is None:
            files.append(File.generated(config, name, abs_src_path=str(ROOT / source)))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Lead links to files of the repository to their pages; what has no page is named without a link."""
    here = _in_repository(page.file.src_uri)
    return re.sub(r"\]\((?!\w+:|#)([^)\s#]+)(#[^)\s]*)?\)", lambda link: _linked(link, here, page), markdown)


def _in_repository(name: str) -> str:
    """Where the source of a page stands in the repository."""
    return next((source for source, shown in OUTSIDE.items() if shown == name), f"docs/{name}")


def _linked(link: re.Match[str], here: str, page: Page) -> str:
    target = relpath(f"{Path(here).parent.as_posix()}/{link[1]}", ".")
    shown = OUTSIDE.get(target, target.removeprefix("docs/"))
    if shown == target:  # neither a page nor below docs/
        return "]" if (ROOT / target).exists() else link[0]
    return f"]({relpath(shown, Path(page.file.src_uri).parent.as_posix())}{link[2] or ''})"
