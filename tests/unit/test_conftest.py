"""The block on sockets is real; what needs control groups is skipped where there are none."""

import socket
from typing import cast

import pytest
from pytest_socket import SocketBlockedError

from tests import conftest
from twinsmith.adapters.sandbox.cgroup import Groups


def test_sockets_are_blocked() -> None:
    with pytest.warns(UserWarning, match="socket"), pytest.raises(SocketBlockedError):
        socket.socket()


class Item:
    """As much of a collected test as is asked for its marks."""

    def __init__(self, *names: str) -> None:
        self.marks = [getattr(pytest.mark, name).mark for name in names]

    def get_closest_marker(self, name: str) -> pytest.Mark | None:
        return next((mark for mark in self.marks if mark.name == name), None)

    def add_marker(self, marker: pytest.MarkDecorator) -> None:
        self.marks.append(marker.mark)


@pytest.mark.parametrize(
    ("groups", "skipped"), [(None, True), (Groups(folders={}, unified=True), False)]
)
def test_only_what_is_marked_needs_control_groups(
    monkeypatch: pytest.MonkeyPatch, groups: Groups | None, skipped: bool
) -> None:
    monkeypatch.setattr(conftest, "here", lambda: groups)
    needy, other = Item("groups"), Item("asyncio")
    conftest.pytest_collection_modifyitems(cast("list[pytest.Item]", [needy, other]))
    mark = needy.get_closest_marker("elsewhere")
    assert (mark is not None) == skipped
    assert mark is None or mark.kwargs == {"reason": conftest.NO_GROUPS}
    assert [each.name for each in other.marks] == ["asyncio"]
