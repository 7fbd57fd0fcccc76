"""The block on sockets is real."""

import socket

import pytest
from pytest_socket import SocketBlockedError


def test_sockets_are_blocked() -> None:
    with pytest.warns(UserWarning, match="socket"), pytest.raises(SocketBlockedError):
        socket.socket()
