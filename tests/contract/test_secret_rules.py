"""The rule set that others keep: what it finds in this program's own words, and what it leaves."""

import base64
import subprocess
import sys
from pathlib import Path

import pytest

from tests.honest_texts import CODE, PLAIN
from tests.secrets_planted import SAFE, SMALL, TOKENS, some
from twinsmith.adapters.secret_rules import SecretRules
from twinsmith.core.masking import Masking
from twinsmith.core.sensitive.places import MASK, covered

# Formats that only the rule set knows.
ONLY_THERE = {
    "ReadMe": "rdme_" + some(70, SMALL),
    "Duffel": "duffel_live_" + some(43, SAFE),
    "Frame.io": "fio-u-" + some(64, SAFE),
    "Apify": "apify_api_" + some(36),
}


@pytest.fixture(scope="module")
def rules() -> SecretRules:
    return SecretRules((Path.home() / ".cache" / "twinsmith",))


def test_it_finds_tokens_that_the_own_list_has_too(rules: SecretRules) -> None:
    kinds = ("Stripe", "GitLab", "SendGrid", "DigitalOcean", "Groq", "Linear", "age", "PyPI")
    for kind in kinds:
        text = f"é before {TOKENS[kind]} after"
        assert covered(text, rules(text)) == f"é before {MASK} after"


def test_it_finds_what_the_own_list_does_not_have(rules: SecretRules) -> None:
    texts = [f"key: {token}" for token in ONLY_THERE.values()]
    for text in texts:
        assert MASK not in Masking().code(text)
        assert MASK in Masking(rules=rules).code(text), text


def test_it_finds_tokens_in_base64(rules: SecretRules) -> None:
    encoded = base64.b64encode(TOKENS["Stripe"].encode()).decode()
    assert covered(f"x {encoded} y", rules(f"x {encoded} y")) == f"x {MASK} y"


@pytest.mark.parametrize("text", [*PLAIN, *CODE])
def test_honest_texts_and_programs_stay(rules: SecretRules, text: str) -> None:
    assert Masking(rules=rules).text(text) == text


def test_letters_of_all_kinds_are_no_hindrance(rules: SecretRules) -> None:
    text = f"密码 \ud83d {TOKENS['Stripe']} Ω {TOKENS['GitLab']}"
    assert covered(text, rules(text)) == f"密码 \ud83d {MASK} Ω {MASK}"


def test_it_is_loaded_for_the_first_text_that_may_hold_a_secret() -> None:
    program = (
        "import sys\n"
        "from twinsmith.settings import load\n"
        "masking = load().masking\n"
        "print('kingfisher_sdk' in sys.modules, 'twinsmith.core.sensitive.search' in sys.modules)\n"
        "masking.text('run 20261115-101500-a3f9 is solved: candidate 2 passes 3 of 3 checks')\n"
        "print('kingfisher_sdk' in sys.modules)\n"
        "masking.text('a word like x1y2z3x1y2z3x1y2z3')\n"
        "print('kingfisher_sdk' in sys.modules)\n"
    )
    shown = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert shown.stdout.split() == ["False", "False", "False", "True"]


def test_without_a_folder_for_its_cache_it_works_all_the_same(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("")
    text = f"x {TOKENS['Stripe']}"
    assert covered(text, SecretRules((blocked / "x", tmp_path / "here"))(text)) == f"x {MASK}"
    assert any((tmp_path / "here").iterdir())
