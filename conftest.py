"""What the tests of all three distributions share: none of them reaches out of this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import socket_guard

socket_guard.install()


@pytest.fixture(autouse=True)
def _no_network() -> Iterator[None]:
    """Fails a test that tried, even where the code under test swallowed the error."""
    socket_guard.attempts.clear()
    yield
    assert not socket_guard.attempts
