"""The guard itself: what goes out is stopped and remembered, and the machine may talk to itself."""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from urllib.request import urlopen

import pytest

import socket_guard

OUT = "192.0.2.1"  # an address kept for documentation: nobody answers there


def _tcp() -> None:
    with socket.socket() as one:
        one.settimeout(0.1)
        one.connect((OUT, 80))


def _udp() -> None:
    with socket.socket(type=socket.SOCK_DGRAM) as one:
        one.sendto(b"", (OUT, 9))


def _page() -> None:
    urlopen("http://example.org", timeout=0.1)


WAYS: list[Callable[[], object]] = [
    _tcp,
    _udp,
    _page,
    lambda: socket.create_connection((OUT, 80), timeout=0.1),
    lambda: socket.getaddrinfo("huggingface.co", 443),
    lambda: socket.gethostbyname("huggingface.co"),
]


@pytest.mark.parametrize("way", WAYS, ids=range(len(WAYS)))
def test_what_goes_out_is_stopped_and_remembered(way: Callable[[], object]) -> None:
    with pytest.raises(socket_guard.ReachedOut):
        way()
    assert len(socket_guard.attempts) == 1
    socket_guard.attempts.clear()


def test_the_machine_talks_to_itself() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()[:2]) as one:
        other, _ = server.accept()
        one.sendall(b"a")
        assert other.recv(1) == b"a"
        other.close()
    assert socket.getaddrinfo("localhost", 80)
    assert not socket_guard.attempts


def test_a_swallowed_attempt_fails_its_test(pytestconfig: pytest.Config) -> None:
    """The fixture of the session, led through a test that tries and hides it."""
    [guard] = [one for one in pytestconfig.pluginmanager.get_plugins() if hasattr(one, "_no_network")]
    led = guard._no_network.__wrapped__()
    next(led)
    with suppress(RuntimeError):
        socket.gethostbyname("example.org")
    with pytest.raises(AssertionError):
        next(led)
    socket_guard.attempts.clear()
