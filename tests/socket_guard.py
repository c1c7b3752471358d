"""No test reaches out of this machine: connections and look-ups of names elsewhere are errors, and are remembered.

Python tells an audit hook of every connection before it is made, whoever asks for it. Remembered they are because
much code takes any error for "no network" and goes on. Child processes are not watched.
"""

from __future__ import annotations

import ipaddress
import socket
import sys
from contextlib import suppress
from typing import Any

attempts: list[str] = []  # since the running test began; the guard of the session looks at it when the test is over
_installed: list[bool] = []


class ReachedOut(RuntimeError):
    """A test asked for something outside this machine."""


def install() -> None:
    """Watch this process from now on; a hook cannot be taken away again."""
    if not _installed:
        _installed.append(True)
        own = _own_names()
        sys.addaudithook(lambda event, given: _watch(event, given, own) if event.startswith("socket.") else None)


def _own_names() -> frozenset[str]:
    """The names and addresses of this machine: Ray and others talk to themselves by them."""
    names = {"localhost", "", "0.0.0.0", "::", socket.gethostname(), socket.getfqdn()}
    with suppress(OSError):
        names |= {str(found[4][0]) for found in socket.getaddrinfo(socket.gethostname(), None)}
    return frozenset(names)


def _watch(event: str, given: tuple[Any, ...], own: frozenset[str]) -> None:
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        sender, address = given
        # Connecting a datagram socket sends nothing: it is how one asks for one's own address.
        if event == "socket.connect" and sender.type == socket.SOCK_DGRAM:
            return
        host = address[0] if isinstance(address, tuple) and sender.family in (socket.AF_INET, socket.AF_INET6) else None
    elif event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
        host = given[0]
    else:
        return
    if host is not None and not _is_local(host.decode() if isinstance(host, bytes) else str(host), own):
        attempts.append(f"{event} {host}")
        raise ReachedOut(f"a test reached out of this machine: {event} {host}")


def _is_local(host: str, own: frozenset[str]) -> bool:
    try:
        return host in own or ipaddress.ip_address(host.partition("%")[0]).is_loopback
    except ValueError:
        return False
