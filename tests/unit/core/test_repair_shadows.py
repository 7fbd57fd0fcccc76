import pytest

from tests.repairs import mended

MINUTES = "def minutes(time):\n    return int(time[:2]) * 60\n\n\n"


def test_a_local_that_hides_the_function_it_is_filled_from_is_renamed() -> None:
    source = (
        f"{MINUTES}@cached\ndef shift(time, by):\n    # Later.\n    minutes = minutes(time) + by\n"
        "    hours, minutes = divmod(minutes, 60)\n    return f'{hours:02}:{minutes:02}'\n"
        "\n\nX = 1\n"
    )
    made = mended(source.replace("@cached\n", ""), "python", kind="library")
    names: dict[str, object] = {}
    exec(f"{made}\ngave = shift('02:00', 61)", names)
    assert names["gave"] == "03:01"
    assert made.startswith(MINUTES)
    assert made.endswith("\n\n\nX = 1\n")
    assert mended(source, "python", kind="library").count("@cached") == 1


@pytest.mark.parametrize(
    "body",
    [
        "    minutes = 3\n    return minutes\n",
        "    return minutes(minutes)\n",
        "    global minutes\n    minutes = minutes(time)\n    return minutes\n",
        "    minutes = lambda x: x\n    return minutes(3)\n",
        "    def minutes(x):\n        return x\n    return minutes(3)\n",
    ],
)
def test_names_that_mean_what_they_say_stay(body: str) -> None:
    head = "def f(time, minutes):\n" if "minutes(minutes)" in body else "def f(time):\n"
    source = f"{MINUTES}{head}{body}"
    assert mended(source, "python", kind="library") == source
