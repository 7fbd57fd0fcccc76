from pathlib import Path

import pytest

from twinsmith.core.errors import ConfigError
from twinsmith.core.program import Kind
from twinsmith.core.task import Task
from twinsmith.settings import load, values_by_key
from twinsmith.wiring.effort import effort_of, refuse_missing_frame


def write(home: Path, text: str) -> dict[str, str]:
    home.mkdir(exist_ok=True)
    (home / "twinsmith.toml").write_text(text)
    return {"TWINSMITH_HOME": str(home)}


def test_defaults_say_that_they_are_defaults(tmp_path: Path) -> None:
    settings = load({"TWINSMITH_HOME": str(tmp_path / "none")})
    assert set(settings.sources.values()) == {"default"}
    assert settings.values.build.candidates == 16
    assert settings.database_url == f"sqlite:///{tmp_path}/none/state.db"


def test_the_environment_wins_over_the_file_and_each_says_so(tmp_path: Path) -> None:
    env = write(tmp_path, "[build]\ncandidates = 3\nseed = 5\n")
    settings = load({**env, "TWINSMITH_BUILD_SEED": "9"})
    assert (settings.values.build.candidates, settings.values.build.seed) == (3, 9)
    assert settings.sources["build.candidates"] == str(tmp_path / "twinsmith.toml")
    assert settings.sources["build.seed"] == "TWINSMITH_BUILD_SEED"
    assert settings.sources["build.budget_tokens"] == "default"


def test_a_named_file_replaces_the_one_in_the_data_folder(tmp_path: Path) -> None:
    env = write(tmp_path, "[build]\ncandidates = 3\n")
    other = tmp_path / "other.toml"
    other.write_text("[build]\ncandidates = 4\n")
    assert load({**env, "TWINSMITH_CONFIG": str(other)}).values.build.candidates == 4


def test_a_file_in_the_working_folder_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "twinsmith.toml").write_text("[build]\ncandidates = 9\n")
    monkeypatch.chdir(tmp_path)
    assert load({"TWINSMITH_HOME": str(tmp_path / "home")}).values.build.candidates == 16


def test_the_data_folder_has_an_order() -> None:
    assert load({"XDG_DATA_HOME": "/x"}).home == Path("/x/twinsmith")
    assert load({"XDG_DATA_HOME": "/x", "TWINSMITH_HOME": "/y"}).home == Path("/y")
    assert load({}).home == Path.home() / ".local/share/twinsmith"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("[build]\ncandidate = 3", r"'build.candidate' in .*; did you mean 'build.candidates'\?"),
        ("[bild]\nseed = 3", r"'bild' in .* did you mean 'build'"),
        ("seed = 3", "'seed' in .* is not a setting"),
        ("[build]\ncandidates = 0", "build.candidates = 0 from .*twinsmith.toml: .*greater"),
        ("[build]\ncandidates = 'many'", "build.candidates = 'many'"),
        ("[build", "is not TOML"),
        ("[database]\nurl = 'postgresql://a:b@h/d'", "holds a password; secrets come from the env"),
        ("[models]\nserver = 'http://h/v1'", "models.server_model is not; name the model"),
        ("[ensemble_1]\nslow = 3", "ensemble_1.slow = 3"),
        ("[gateway]\nretries = 99", "gateway.retries = 99"),
        ("[database]\nurl = 'mysql://h/d'", "must start with postgresql:// or sqlite:///"),
    ],
)
def test_what_is_wrong_in_the_file_is_named_in_one_line(
    tmp_path: Path, text: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as error:
        load(write(tmp_path, text))
    assert "\n" not in str(error.value)


def test_what_is_wrong_in_the_environment_is_named(tmp_path: Path) -> None:
    home = {"TWINSMITH_HOME": str(tmp_path)}
    with pytest.raises(ConfigError, match="did you mean 'TWINSMITH_BUILD_SEED'"):
        load({**home, "TWINSMITH_BUILD_SED": "1"})
    with pytest.raises(ConfigError, match=r"build.seed = 'x' from TWINSMITH_BUILD_SEED"):
        load({**home, "TWINSMITH_BUILD_SEED": "x"})
    with pytest.raises(ConfigError, match="does not exist"):
        load({**home, "TWINSMITH_CONFIG": "/nope.toml"})


def test_a_password_may_come_from_the_environment(tmp_path: Path) -> None:
    url = "postgresql://me:hunter22@127.0.0.1/db"
    settings = load({"TWINSMITH_HOME": str(tmp_path), "TWINSMITH_DATABASE_URL": url})
    assert settings.database_url == url
    assert values_by_key(settings.values)["database.url"] == url


@pytest.mark.parametrize(
    ("choice", "language", "framed"),
    [
        ("auto", "python", True),
        ("on", "python", True),
        ("off", "python", False),
        ("auto", "go", False),
        ("on", "go", False),
    ],
)
def test_services_are_written_around_a_frame_where_there_is_one_and_it_is_wanted(
    choice: str, language: str, *, framed: bool
) -> None:
    settings = load({"TWINSMITH_BUILD_FRAME": choice, "HOME": "/nowhere"})
    assert effort_of(settings).frames(language) is framed


def test_a_frame_is_wanted_or_not(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"build\.frame"):
        load(write(tmp_path, '[build]\nframe = "sometimes"\n'))


@pytest.mark.parametrize(
    ("frame", "language", "kind", "refused"),
    [
        ("on", "go", "service", True),
        ("on", "rust", "service", True),
        ("on", "python", "service", False),
        ("on", "go", "library", False),
        ("auto", "go", "service", False),
        ("off", "go", "service", False),
    ],
)
def test_a_frame_is_only_wanted_where_there_is_one(
    tmp_path: Path, frame: str, language: str, kind: Kind, refused: bool
) -> None:
    settings = load({"TWINSMITH_HOME": str(tmp_path), "TWINSMITH_BUILD_FRAME": frame})
    task = Task(text="t", language=language, kind=kind)
    if not refused:
        refuse_missing_frame(settings, task)
        return
    told = f"^build.frame is 'on', and there is no frame for {language}, only for python; set it to"
    with pytest.raises(ConfigError, match=told):
        refuse_missing_frame(settings, task)


def test_an_occasion_that_could_never_be_is_refused(tmp_path: Path) -> None:
    for name in ("risk", "full_moon"):
        with pytest.raises(ConfigError, match=f"'{name}' is no occasion; one of first_deploy"):
            load({"TWINSMITH_HOME": str(tmp_path), "TWINSMITH_APPROVALS_NEEDED": name})


@pytest.mark.parametrize(
    ("name", "value", "says"),
    [
        ("CHANNELS", "Team", "'Team' is no channel"),
        ("CHANNELS", "team:loud", "'loud' in 'team:loud' is no severity; one of info, warning"),
        ("CHANNELS", "team,team:critical", "channel 'team' is named twice"),
        ("QUIET", "22-7", "'22-7' is no span of hours; for example 22:00-07:00"),
        ("QUIET", "07:00-07:00", "begins when it ends"),
        ("REPEAT_SECONDS", "-1", "greater than or equal to 0"),
    ],
)
def test_alerts_that_could_not_be_sent_are_refused(
    tmp_path: Path, name: str, value: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=f"(?i){says}") as error:
        load({"TWINSMITH_HOME": str(tmp_path), f"TWINSMITH_ALERTS_{name}": value})
    assert "\n" not in str(error.value)


def test_addresses_of_channels_come_from_the_environment_and_are_secrets(tmp_path: Path) -> None:
    token = "TIiajkdnlazkcOXrIdevi7FQ"
    address = f"slack://T1JJ3T3L2/A1BRTD4JD/{token}"
    settings = load({"TWINSMITH_HOME": str(tmp_path), "TWINSMITH_ALERT_TEAM": address})
    assert settings.alert_addresses == {"team": address}
    assert token not in repr(settings)
    for shown in (address, f"it said {token}", "A1BRTD4JD is it"):
        assert settings.masking.text(shown).count("[masked]") == 1
    assert settings.masking.text("the team gets alerts") == "the team gets alerts"
    with pytest.raises(ConfigError, match="did you mean 'TWINSMITH_ALERTS_CHANNELS'"):
        load({"TWINSMITH_HOME": str(tmp_path), "TWINSMITH_ALERT_CHANNELS": "team"})
    with pytest.raises(ConfigError, match=r"'alerts.team' in .* is not a setting"):
        load(write(tmp_path, f"[alerts]\nteam = '{address}'"))
