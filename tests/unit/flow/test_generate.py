import pytest

from twinsmith.core.errors import BadReply
from twinsmith.flow.build.generate import read_program

SOURCE = "def f():\n    return 1\n"


@pytest.mark.parametrize(
    "text",
    [
        SOURCE,
        f"```python\n{SOURCE}```",
        f"Here you are:\n\n```py\n{SOURCE}```\nEnjoy!",
        f"```\n{SOURCE}",
        f"```sh\npip\n```\nthen\n```python\n{SOURCE}```",
    ],
)
def test_the_program_is_found_in_a_reply(text: str) -> None:
    assert read_program(text, entry="f").source == SOURCE


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("I am sorry.", "not Python"),
        ("```python\ndef f(:\n```", "not Python"),
        ("```python\ndef g(): ...\n```", r"does not define 'f'; it defines \['g'\]"),
        ("", "does not define 'f'"),
        ("x = '\0'", "not Python"),
    ],
)
def test_what_is_no_program_is_a_bad_reply(text: str, says: str) -> None:
    with pytest.raises(BadReply, match=says):
        read_program(text, entry="f")
