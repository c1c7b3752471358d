"""The wheels: what is in them, and the newcomer's walk with nothing but what they install, outside of the checkout.

The environment is new and empty; it sees the site-packages of this one for torch and the like, which are gigabytes, and
takes assay, assay-zoo and assay-studies from the wheels. `make walk` installs everything anew.
"""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tomllib
import venv
from email.parser import Parser
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]
PARTS = {"assay": ".", "assay_zoo": "zoo", "assay_studies": "studies"}


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    place = tmp_path_factory.mktemp("dist")
    for part in PARTS.values():
        command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(place)]
        subprocess.run(command, cwd=ROOT / part, check=True, capture_output=True)
    return {name: next(place.glob(f"{name}-*.whl")) for name in PARTS}


def files(wheel: Path) -> set[str]:
    with ZipFile(wheel) as opened:
        return set(opened.namelist())


@pytest.mark.parametrize("name", PARTS)
def test_a_wheel_has_every_file_of_its_package(wheels: dict[str, Path], name: str) -> None:
    source = ROOT / PARTS[name] / "src"
    own = {p.relative_to(source).as_posix() for p in (source / name).rglob("*") if p.is_file()}
    expected = {path for path in own if "__pycache__" not in path}
    assert f"{name}/py.typed" in expected
    assert expected <= files(wheels[name])
    assert {path.split("/")[0].split("-")[0] for path in files(wheels[name])} == {name}  # and nothing else


@pytest.mark.parametrize(
    ("name", "inside"),
    [
        ("assay", "assay/views/templates/trust.html.j2"),
        ("assay_zoo", "assay_zoo/weights/sst2.safetensors"),
        ("assay_studies", "assay_studies/double_trouble/published/table_1.csv"),
    ],
)
def test_data_files_are_in(wheels: dict[str, Path], name: str, inside: str) -> None:
    assert inside in files(wheels[name])


@pytest.mark.parametrize("name", PARTS)
def test_the_metadata_are_those_of_the_project(wheels: dict[str, Path], name: str) -> None:
    project = tomllib.loads((ROOT / PARTS[name] / "pyproject.toml").read_text())["project"]
    with ZipFile(wheels[name]) as opened:
        text = opened.read(f"{name}-{project['version']}.dist-info/METADATA").decode()
    found = Parser().parsestr(text)
    assert found["Requires-Python"] == project["requires-python"]
    assert set(project.get("optional-dependencies", {})) == set(found.get_all("Provides-Extra", []))
    assert len(found.get_payload()) > 500  # the readme


@pytest.fixture(scope="module")
def environment(wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("clean")
    venv.create(place, with_pip=False)
    python = place / "bin" / "python"
    pip = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*pip, "--no-compile", *map(str, wheels.values())], check=True, env=clean())
    (next(place.glob("lib/python*/site-packages")) / "seen.pth").write_text(sysconfig.get_path("purelib"))
    return place


def clean() -> dict[str, str]:
    """This environment without what leads back to the checkout."""
    return {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "COLUMNS")}


def test_studies_and_commands_are_found(environment: Path, tmp_path: Path) -> None:
    shown = subprocess.run(
        [environment / "bin" / "assay", "study", "--help"], cwd=tmp_path, capture_output=True, text=True, env=clean()
    )
    assert "double_trouble" in shown.stdout


def test_the_newcomers_walk(environment: Path, tmp_path: Path) -> None:
    walk = [environment / "bin" / "python", ROOT / "tests/docs/walk.py", ROOT / "examples", tmp_path / "out"]
    done = subprocess.run(walk, cwd=tmp_path, capture_output=True, text=True, env=clean())
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("as expected") == 6
