"""The versions of the packages that an explanation depends on."""

from __future__ import annotations

from functools import cache
from importlib.metadata import PackageNotFoundError, version

_PACKAGES = ("assay", "torch", "transformers", "numpy")


@cache
def versions() -> dict[str, str]:
    """Each package with its version."""
    return {package: _version(package) for package in _PACKAGES}


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
