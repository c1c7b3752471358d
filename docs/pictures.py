"""The pictures of the gallery: each view drawn from a small example, and photographed by chromium.

python docs/pictures.py [NAME ...]     writes docs/gallery/NAME.png; needs chromium and pillow, and is no part of CI
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from code_blocks import ROOT, examples, write_files
from PIL import Image, ImageChops

import assay
from assay.cli import main as command
from assay.views import page

HERE = Path(__file__).parent / "gallery"
SENTENCE = "the acting is superb but the script is a mess and two hours feel like four"
WIDTH, TALLEST = 760, 1500


def heat_map() -> str:
    return page(list(assay.explain("sst2", SENTENCE, ["leave_one_out", "integrated_gradients", "attention"]).values()))


def contrast() -> str:
    text = "the central bank raises rates as the team wins the cup"
    return page([assay.explain("ag_news", text, "leave_one_out", target="Business", against="Sports")])


def pair() -> str:
    return page([assay.explain("snli", ("a man is playing a guitar", "a person makes music"), "leave_one_out")])


def span_reader() -> str:
    text = ("who wrote the play ?", "Hamlet is a play that William Shakespeare wrote around 1600 .")
    return page([assay.explain("squad", text, "leave_one_out")])


def anchors() -> str:
    return page([assay.explain("sst2", "the script is a mess", "anchors", beam=1)])


def input_reduction() -> str:
    return page([assay.explain("sst2", SENTENCE, "input_reduction")])


def edits() -> str:
    return page([assay.explain("sst2", "the acting is superb but the script is a mess", "mice")])


def influence() -> str:
    write_files(ROOT / "docs/influence.md")
    return page([assay.explain("sst2", "a funny and gripping story", "influence_functions", train="train.csv")])


def rationale() -> str:
    return page([assay.explain("snli", ("A man poses in front of an ad.", "A man is asleep."), "cage")])


def verdicts() -> str:
    command(
        ["check", SENTENCE, "-m", "leave_one_out,ig,random", "-c", "deletion,sufficiency", "--html", "a.html", "-q"]
    )
    return Path("a.html").read_text(encoding="utf-8")


def description() -> str:
    return assay.describe("sst2", "examples/reviews.csv", "sp_lime", picks=3, of="lime:samples=100").to_html()


def trust_of_several_texts() -> str:
    texts = [row.text for row in assay.Sample.of("examples/reviews.csv", limit=8)]
    return assay.trust("sst2", texts, ["leave_one_out", "input_x_gradient"]).to_html()


def run_report() -> str:
    command(["run", "reviews.csv", "-m", "leave_one_out,gradient", "-c", "sufficiency", "--out", "gallery.run", "-q"])
    command(["report", "gallery.run", "--html", "report.html", "-q"])
    return Path("report.html").read_text(encoding="utf-8")


def mend_report() -> str:
    fast = ["--rank", "2", "--epochs", "1", "--beam", "1", "--margin", "0.9", "--out", "mended", "-q"]
    command(["mend", "--model", "sst2", "--data", "reviews.csv", "--column", "text", "--label-column", "label", *fast])
    return Path("mended/report.html").read_text(encoding="utf-8")


VIEWS: tuple[Callable[[], str], ...] = (
    heat_map,
    contrast,
    pair,
    span_reader,
    anchors,
    input_reduction,
    edits,
    influence,
    rationale,
    verdicts,
    description,
    trust_of_several_texts,
    run_report,
    mend_report,
)


def photograph(html: str, name: str, dark: bool = False) -> None:
    """A picture of a page: its upper part where it is long, its margins cut off, in few colours."""
    with tempfile.TemporaryDirectory() as place:
        Path(place, "page.html").write_text(html, encoding="utf-8")
        shot = Path(place, "shot.png")
        subprocess.run(_chromium(place, shot, dark), check=True, capture_output=True)
        picture = Image.open(shot).convert("RGB")
        ground = Image.new("RGB", picture.size, picture.getpixel((2, picture.height - 2)))
        box = ImageChops.difference(picture, ground).getbbox() or (0, 0, *picture.size)
        picture = picture.crop((0, 0, WIDTH, min(box[3] + 24, TALLEST)))
        picture.quantize(96, dither=Image.Dither.NONE).save(HERE / f"{name}.png", optimize=True)


def _chromium(place: str, shot: Path, dark: bool) -> list[str]:
    quiet = ["--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--disable-background-networking"]
    scheme = f"--blink-settings=preferredColorScheme={int(not dark)}"
    size = f"--window-size={WIDTH},{TALLEST}"
    return [
        "chromium",
        *quiet,
        scheme,
        size,
        f"--user-data-dir={place}/user",
        f"--screenshot={shot}",
        f"{place}/page.html",
    ]


def main(names: list[str]) -> None:
    HERE.mkdir(exist_ok=True)
    with examples(with_run=False):
        for view in VIEWS:
            if not names or view.__name__ in names:
                photograph(view(), view.__name__)
                print(f"wrote docs/gallery/{view.__name__}.png", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
