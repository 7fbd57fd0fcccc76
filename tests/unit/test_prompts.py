import asyncio

import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.prompts import checked, render, shipped, using, version, version_of


def test_another_text_holds_within_its_block_only() -> None:
    as_shipped = version("practice")
    with using({"practice": "Rules for $task"}):
        assert render("practice", task="x", language="", kind="") == "Rules for x"
        assert version("practice") == version_of("Rules for $task") != as_shipped
        assert version("plan") == version_of(shipped()["plan"])
        assert version("") == ""
    assert version("practice") == as_shipped == version_of(shipped()["practice"])
    assert render("practice", task="x", language="y", kind="z") != "Rules for x"


async def test_runs_at_once_keep_their_own_texts() -> None:
    async def build(text: str) -> list[str]:
        found = []
        with using({"practice": text}):
            for _ in range(3):
                await asyncio.sleep(0)
                found.append(render("practice", task="x", language="", kind=""))
            # A task that is begun within the block uses its texts, too.
            found.append(await asyncio.create_task(asked()))
        return found

    async def asked() -> str:
        return render("practice", task="x", language="", kind="")

    one, other = await asyncio.gather(build("one"), build("other"))
    assert (one, other) == (["one"] * 4, ["other"] * 4)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("cod", "x", "did you mean 'code'"),
        ("practice", "costs $5", "begins no placeholder"),
        ("practice", "for $nobody", r"holds \$nobody, which nothing fills; it may hold \$"),
    ],
)
def test_a_text_that_cannot_stand_in_is_refused(name: str, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        checked(name, text)


def test_every_shipped_text_can_stand_in_for_itself() -> None:
    assert len(shipped()) > 30
    for name, text in shipped().items():
        assert checked(name, text) == text
