import json

import pytest

from twinsmith.cli import exits
from twinsmith.core import errors


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.ConfigError("x"), 2),
        (errors.UnknownRun("x"), 2),
        (errors.ModelUnavailable("x"), 3),
        (errors.SandboxError("x"), 3),
        (errors.EngineError("x"), 3),
        (errors.RunBusy("x"), 4),
        (errors.RunCancelled("x"), 5),
        (errors.InternalError("x"), 70),
    ],
)
def test_each_error_tells_a_script_who_has_to_act(error: errors.TwinsmithError, code: int) -> None:
    assert exits.code_of(error) == code
    assert f"{code} " in exits.MEANING


def test_an_error_is_one_line_on_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        exits.fail("two\nlines", 2, as_json=False)
    assert leaving.value.code == 2
    assert capsys.readouterr().err == "twinsmith: two lines\n"


def test_an_error_is_an_object_for_scripts(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        exits.fail("oh", 3, as_json=True)
    assert json.loads(capsys.readouterr().out) == {"error": "oh", "exit_code": 3}
