import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.task import LONGEST_TASK, LONGEST_TESTS, read_task


def test_a_task_is_trimmed() -> None:
    task = read_task(text="  add \n", language="python", kind="function", tests="assert 1")
    assert (task.text, task.tests) == ("add", "assert 1")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"text": "  \n"}, "the task is empty"),
        ({"text": "x" * (LONGEST_TASK + 1)}, f"{LONGEST_TASK + 1} characters"),
        ({"text": "a\0b"}, "NUL"),
        ({"language": "cobol"}, "'cobol' cannot be built yet; this version builds python"),
        ({"kind": "poem"}, "'poem' is unknown; one of function"),
        ({"kind": "service"}, "'service' cannot be built yet"),
        ({"tests": "x" * (LONGEST_TESTS + 1)}, "at most"),
    ],
)
def test_what_cannot_be_built_is_refused_in_one_line(change: dict[str, str], says: str) -> None:
    given = {"text": "t", "language": "python", "kind": "function", "tests": ""}
    with pytest.raises(ConfigError, match=says) as error:
        read_task(**{**given, **change})
    assert "\n" not in str(error.value)
