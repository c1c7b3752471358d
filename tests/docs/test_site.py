"""The site: built without a warning, complete, and readable without a network."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
import site_hooks
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

ROOT = Path(__file__).parents[2]
LOADED = {
    "script": "src",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
    "embed": "src",
}
ELSEWHERE = re.compile(r"^(https?:)?//")


def built(place: Path, docs: Path | None = None) -> Path:
    settings = {"docs_dir": str(docs)} if docs else {}
    build(load_config(str(ROOT / "mkdocs.yml"), strict=True, site_dir=str(place), **settings))
    return place


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return built(tmp_path_factory.mktemp("site"))


class Loads(HTMLParser):
    """What a browser fetches to show a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.urls: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in LOADED:
            self.urls.append(given.get(LOADED[tag]) or "")
        if tag == "link" and given.get("rel") not in ("canonical", "next", "prev"):
            self.urls.append(given.get("href") or "")


def elsewhere(site: Path) -> list[tuple[str, str]]:
    """What pages and style sheets of a site fetch from another place."""
    found = [(page.name, url) for page in site.rglob("*.html") for url in Loads(page.read_text("utf-8")).urls]
    styles = [
        (css.name, url)
        for css in site.rglob("*.css")
        for url in re.findall(r"(?:url\(|@import )['\"]?([^'\")]+)", css.read_text("utf-8"))
    ]
    return [(name, url) for name, url in found + styles if ELSEWHERE.match(url)]


def test_every_page_of_docs_has_a_place(site: Path) -> None:
    pages = [path.relative_to(ROOT / "docs") for path in ROOT.glob("docs/**/*.md")]
    first = (site / "index.html").read_text("utf-8")
    for page in [*pages, *map(Path, site_hooks.OUTSIDE.values())]:
        name = page.with_suffix(".html").as_posix()
        assert (site / name).exists()
        assert f'href="{name}"' in first, f"{name} is not in the navigation"


def test_nothing_is_fetched_from_elsewhere(site: Path) -> None:
    assert elsewhere(site) == []
    assert len(list(site.rglob("*.html"))) > 30


def test_a_fetch_would_be_found(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_text('<link rel="stylesheet" href="https://x/y.css"><script src="//x/z.js"></script>')
    (tmp_path / "b.css").write_text("@import 'https://x/a.css'; p { background: url(https://x/b.png) }")
    assert len(elsewhere(tmp_path)) == 4


def test_search_works_from_files(site: Path) -> None:
    assert (site / "search/search_index.js").exists()
    assert 'src="assets/iframe-worker.js"' in (site / "index.html").read_text("utf-8")


def small(place: Path, text: str) -> Path:
    (place / "docs").mkdir()
    nav = load_config(str(ROOT / "mkdocs.yml")).nav
    outside = site_hooks.OUTSIDE.values()
    for name in site_hooks._named(nav or []):
        if name not in outside:
            (place / "docs" / name).parent.mkdir(exist_ok=True)
            (place / "docs" / name).write_text(f"# {name}")
    (place / "docs" / "new.md").write_text(text)
    return place / "docs"


def test_a_new_page_finds_its_section(tmp_path: Path) -> None:
    page = site_hooks.on_config
    config = load_config(str(ROOT / "mkdocs.yml"), docs_dir=str(small(tmp_path, "---\nsection: How to\n---\n# New")))
    section = next(entry["How to"] for entry in page(config).nav or [] if "How to" in entry)
    assert "new.md" in section


def test_a_dead_link_fails_the_build(tmp_path: Path) -> None:
    with pytest.raises(Abort):
        built(tmp_path / "site", small(tmp_path, "# New\n\n[dead](nowhere.md)"))
