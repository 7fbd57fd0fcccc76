"""A diff as people read it: nothing of it is markup, no line of it passes for another."""

import re
from difflib import unified_diff

import pytest

from twinsmith.web.diffs import diffed

OLD = 'def f(x):\n    """Say\n    <b>less</b>.\n    """\n    return x\n-- gone\n'
NEW = 'def f(x, y):\n    """Say\n    <script>more</script>.\n    """\n    return y\n++ new\n--- a\n'


def made(old: str, new: str, name: str = "solution.py") -> str:
    lines = unified_diff(old.splitlines(), new.splitlines(), f"a/{name}", f"b/{name}", lineterm="")
    return "\n".join(lines)


def told(html: str) -> list[tuple[str, str]]:
    """The element and the plain words of each line."""
    rows = re.findall(r"<(b|ins|del|span)>(.*?)</\1>(?=<(?:b|ins|del|span)>|$)", html)
    return [(tag, re.sub(r"<[^>]+>", "", text)) for tag, text in rows]


def test_what_comes_and_goes_is_told_apart_with_its_syntax() -> None:
    html = str(diffed(made(OLD, NEW)))
    rows = told(html)
    assert rows[:2] == [("b", "--- a/solution.py"), ("b", "+++ b/solution.py")]
    assert ("del", "-def f(x):") in rows
    assert ("ins", "+def f(x, y):") in rows
    assert '<span class="k">def</span>' in html
    # A line inside of a text is marked as such: the code around it is known.
    assert '<span class="sd">    more' not in html
    assert '<span class="sd">    &lt;script&gt;more' in html


def test_a_line_that_looks_like_a_head_is_none() -> None:
    rows = told(str(diffed(made(OLD, NEW))))
    assert ("del", "--- gone") in rows
    assert ("ins", "+++ new") in rows
    assert ("ins", "+--- a") in rows
    assert [tag for tag, _ in rows].count("b") == 3


@pytest.mark.parametrize("name", ["solution.py", "x.unheard", "main.go", "Dockerfile", ""])
def test_nothing_that_is_changed_becomes_markup(name: str) -> None:
    html = str(diffed(made(OLD, NEW, name)))
    assert "<script" not in html
    assert "<b>less" not in html
    assert len(told(html)) == len(made(OLD, NEW, name).splitlines())


@pytest.mark.parametrize(
    "text",
    [
        "",
        "no diff <i>",
        "@@ -1,9 +1,9 @@\n+x",
        "+++ a.py\n@@ -1 +1 @@\nx\n\n-y\x0c\n+z\r",
        "@@ -0,0 +1,2 @@",
    ],
)
def test_what_is_cut_off_or_no_diff_is_shown_all_the_same(text: str) -> None:
    html = str(diffed(text))
    assert "<i>" not in html
    assert len(told(html)) == len(text.splitlines())
