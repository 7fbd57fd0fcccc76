"""Tokens by their formats: text that begins, or is built, as only a secret is.

A rule set that others keep stands beside this list. This one asks for no entropy and no checksum,
so that a token that was cut, or made up for a test, is covered as well.
"""

import re
from collections.abc import Iterator

from twinsmith.core.sensitive.places import Place, found

_SHORTEST = 15
# Longer ones are recognised by their first part: texts of hundreds of pages stay quick.
_LONGEST = 4000
_MIXED = r"(?=[\w.\-]{0,99}[0-9])(?=[\w.\-]{0,99}[A-Z])"
_LETTERS = r"[A-Za-z0-9]"
# What tokens begin with, separated by spaces, and how they go on. Finding a beginning is cheap;
# only where there is one the rest is looked at.
_BEGINNINGS = {
    # Models: OpenAI, Anthropic, OpenRouter, DeepSeek; Groq, xAI, Perplexity, Replicate, Cerebras, …
    "sk-": (
        rf"(?:(?:{_LETTERS}{{1,30}}[-_]){{0,4}}{_LETTERS}{{16,}}|{_MIXED}[\w\-]{{18,}}"
        r"|(?=(?:[A-Za-z_\-]{0,99}\d){4})[\w\-]{24,})[\w\-]*"
    ),
    "gsk_ xai- pplx- r8_ csk- fw_ jina_ hf_ api_org_": rf"{_LETTERS}{{20,}}",
    "tvly- tvly-dev- tvly-prod-": rf"{_LETTERS}{{16,}}",
    "nvapi-": r"[\w\-]{30,}",
    "lsv2_pt_ lsv2_sk_": r"\w{30,}",
    # Google: keys, access and refresh tokens, client secrets
    "AIza AQ.Ab": r"[\w\-]{30,}",
    "ya29. GOCSPX-": r"[\w\-]{16,}",
    "1//0": r"[\w\-]{24,}",
    # Code and packages: GitHub, GitLab, Atlassian, npm, PyPI, RubyGems, Docker, crates, JFrog, …
    "ghp_ gho_ ghu_ ghs_ ghr_": rf"{_LETTERS}{{30,}}",
    "github_pat_": r"\w{30,}",
    "glpat- gldt- glrt- glrtr- glft- glsoat- gloas- glcbt- glptt- glimt- glagent- glffct-": (
        r"[\w\-.]{16,}"
    ),
    "GR1348941": r"[\w\-]{20,}",
    "ATBB": rf"{_LETTERS}{{28,}}",
    "ATATT3 ATCTT3": r"[\w=\-]{40,}",
    "npm_": rf"{_LETTERS}{{30,}}",
    "pypi-": rf"(?:AgE|{_MIXED})[\w\-]{{24,}}",
    "rubygems_": r"[0-9a-f]{40,}",
    "dckr_pat_ dckr_oat_": r"[\w\-]{20,}",
    "cio": rf"(?=\w*\d)(?=\w*[A-Z]){_LETTERS}{{32}}(?!\w)",
    "AKCp": rf"{_LETTERS}{{60,}}",
    "CLOJARS_": r"[0-9a-f]{50,}",
    "oy2": r"[a-z0-9]{43}(?!\w)",
    # Clouds: AWS, Alibaba, DigitalOcean, Databricks, Vault, Pulumi, Fly, Netlify, Vercel, …
    "AKIA ASIA ABIA ACCA": r"[A-Z0-9]{16}(?![A-Z0-9])",
    "ABSK": r"[A-Za-z0-9+/]{60,}=*",
    "da2-": r"[a-z0-9]{26}",
    "amzn.mws.": r"[0-9a-f\-]{36}",
    "LTAI": rf"{_LETTERS}{{16,}}",
    "dop_v1_ doo_v1_ dor_v1_": r"[0-9a-f]{40,}",
    "dapi": r"[0-9a-f]{32}(?:-\d)?",
    "hvs. hvb. hvr.": r"[\w\-]{20,}",
    "pul-": r"[0-9a-f]{40}",
    "fm1_ fm2_ fm1a_ fm1r_": r"[\w+/=\-]{60,}",
    "nfp_ nfc_ nfo_ nfu_ nfb_": rf"{_LETTERS}{{36}}",
    "vcp_ vck_ vca_ vci_ vcr_": rf"{_LETTERS}{{40,}}",
    "sbp_ sbs_": r"[0-9a-f]{40}",
    "sb_secret_": r"[\w\-]{20,}",
    "pscale_tkn_ pscale_pw_ pscale_oauth_": r"[\w\-.]{30,}",
    "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.": r"[\w.\-]{30,}",
    "tskey-": rf"(?:[a-z]+-)?{_LETTERS}{{8,}}-{_LETTERS}{{16,}}",
    "HRKU- cfut_": r"[\w\-]{30,}",
    "dt0c01. dt0s01. dt0s16.": r"[A-Z0-9]{24}\.[A-Z0-9]{40,}",
    "ops_eyJ": r"[A-Za-z0-9+/=_\-]{60,}",
    # Money and mail: Stripe, Square, Shopify, Braintree, Razorpay, SendGrid, Mailgun, Brevo, …
    "sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_": rf"{_LETTERS}{{10,}}",
    "whsec_": r"[A-Za-z0-9+/=]{20,}",
    "sq0atp- sq0csp- sq0idp-": r"[\w\-]{20,}",
    "EAAA": r"[\w\-]{56,}",
    "EAA": rf"{_LETTERS}{{80,}}",
    "shpat_ shpca_ shppa_ shpss_ shptka_": r"[0-9a-fA-F]{32}",
    "access_token$": r"[a-z]+\$[a-z0-9]{16}\$[0-9a-f]{32}",
    "rzp_live_ rzp_test_": rf"{_LETTERS}{{14,}}",
    "SG.": r"[\w\-]{16,}\.[\w\-]{16,}",
    "key-": r"[0-9a-f]{32}(?!\w)",
    "re_": rf"(?=\w*\d){_LETTERS}{{8,}}_{_LETTERS}{{20,}}",
    "xkeysib-": r"[0-9a-f]{40,}-\w{10,}",
    # Talk: Slack, Twilio
    "xox": r"[a-z](?:\.xox[a-z])?-[A-Za-z0-9\-]{10,}",
    "xapp-": r"\d-[A-Za-z0-9\-]{20,}",
    "SK": r"[0-9a-f]{32}(?!\w)",
    # Work: Notion, Linear, Figma, Airtable, Sentry, Grafana, New Relic, PostHog, Postman, …
    "ntn_": rf"{_LETTERS}{{40,}}",
    "secret_": rf"{_LETTERS}{{43}}(?!\w)",
    "lin_api_ lin_oauth_": rf"{_LETTERS}{{30,}}",
    "figd_": r"[\w\-]{30,}",
    "pat": rf"{_LETTERS}{{14}}\.[0-9a-f]{{64}}",
    "sntrys_ sntryu_": r"[\w+/=\-]{40,}",
    "glc_ glsa_": r"[\w+/=]{30,}",
    "NRAK- NRII- NRIQ- NRJS- NRRA- NRAL-": r"[\w\-]{20,}",
    "phc_ phx_": rf"{_LETTERS}{{40,}}",
    "PMAK-": r"[0-9a-f]{24}-[0-9a-f]{34}",
    "sgp_": r"(?:\w+_)?[0-9a-f]{40}",
    "CFPAT- tfp_": r"[\w\-]{40,}",
    "bkua_ squ_ sqp_ sqa_": r"[0-9a-f]{40}",
    "pat-na1- pat-na2- pat-eu1-": r"[0-9a-f\-]{36}",
    "CCIPAT_ CCIPRJ_": r"\w{40,}",
    "sk.eyJ pk.eyJ": r"[\w\-]{20,}\.[\w\-]{16,}",
    "A3-": r"(?:[A-Z0-9]{5,11}-){3,6}[A-Z0-9]{5}",
    # Standards: JSON web tokens, PASETO, age, wallets
    "eyJ": r"[\w\-]{8,}\.[\w\-]{8,}\.[\w\-]{6,}(?:\.[\w\-]+){0,2}",
    "v1.local. v2.local. v3.local. v4.local.": r"[\w\-]{30,}",
    "AGE-SECRET-KEY- age-secret-key-": rf"{_LETTERS}{{40,}}",
    "xprv yprv zprv tprv": r"[1-9A-HJ-NP-Za-km-z]{100,}",
}
# What stands inside a token, and the whole token.
_INSIDE = {
    ":APA91b": r"[\w\-]{11,}:APA91b[\w\-]{60,}",  # Firebase
    "Q~": r"[\w~.\-]{3}\dQ~[\w~.\-]{31,34}",  # Azure
    ".atlasv1.": r"[A-Za-z0-9]{14}\.atlasv1\.[\w\-]{40,}",  # Terraform
    "-us": r"(?<!\w)[0-9a-f]{32}-us\d\d?(?!\w)",  # Mailchimp
    ":AA": r"(?<!\w)(?:bot)?\d{8,10}:AA[\w\-]{32,33}(?![\w\-])",  # Telegram
    # Addresses that let whoever knows them write.
    "hooks.slack.com/": r"(?<=hooks\.slack\.com/)(?:services|workflows|triggers)/[\w/\-]{8,}",
    "/api/webhooks/": r"(?<=/api/webhooks/)\d{8,}/[\w\-]{8,}",
    "hooks.zapier.com/": r"(?<=hooks\.zapier\.com/hooks/catch/)[\w/\-]{8,}",
    ".webhook.office.com/": r"(?<=\.webhook\.office\.com/)[\w@/\-]{8,}",
    "/with/key/": r"(?<=/with/key/)[\w\-]{8,}",
    "api.telegram.org": r"(?<=/bot)\d{6,}:[\w\-]{20,}",
}
_BEGINNING = tuple(
    (begin, re.compile(rest)) for begins, rest in _BEGINNINGS.items() for begin in begins.split()
)
# What stands before a place in the middle of a word, or in the middle of data in base64.
_AMID = re.compile(r"[A-Za-z0-9]\Z|[A-Za-z0-9+/]{14}[+/]\Z")
_WORD = re.compile(r"[\w.\-]*")
_WITHIN = tuple((inside, re.compile(whole)) for inside, whole in _INSIDE.items())
# A bot's token of Discord begins with nothing of its own.
_DISCORD = re.compile(r"(?<![\w\-.])[MNO][\w\-]{22,27}\.[\w\-]{6}\.[\w\-]{27,}(?![\w\-.])")
# Neither does a secret key of AWS, but it comes with its name or with its key's id.
_AWS_LENGTH = 40
_AWS_NAMED = re.compile(
    r"(?i)(?:aws|amazon|s3|secret|access).{0,30}?(?:secret|key|token).{0,12}?[=:>\"'\s]\s*"
    r"([A-Za-z0-9/+]{40}|[A-Za-z0-9/+]{80,}={0,2})(?![A-Za-z0-9/+])"
)
_RUN = re.compile(r"[A-Za-z0-9/+]{40}")
_AWS_ID = re.compile(r"(?<![A-Za-z0-9])A(?:KIA|SIA)[A-Z0-9]{16}(?![A-Z0-9])")
_FORTY = re.compile(r"(?<![A-Za-z0-9/+=_.\-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_\-])")
_HEX = re.compile(r"[0-9a-f]+|[0-9A-F]+")


def tokens_in(text: str) -> Iterator[Place]:
    """The places of text that has the format of a secret token."""
    # A token has no spaces in it, and most words of a text are shorter than any token.
    words = [word for word in text.split() if len(word) >= _SHORTEST]
    candidates = " ".join(words)
    for begin, rest in _BEGINNING:
        if begin in candidates:
            yield from _beginning(text, begin, rest)
    for inside, whole in _WITHIN:
        if inside in candidates:
            yield from (match.span() for match in whole.finditer(text))
    candidates = " ".join(word for word in words if len(word) >= _AWS_LENGTH)
    if _DISCORD.search(candidates):
        yield from (match.span() for match in _DISCORD.finditer(text))
    if _RUN.search(candidates):
        yield from _of_aws(text)


def _beginning(text: str, begin: str, rest: re.Pattern[str]) -> Iterator[Place]:
    done = 0
    for start, end in found(text, begin):
        if start < done or _AMID.search(text, max(0, start - _SHORTEST), start):
            continue
        match = rest.match(text, end, end + _LONGEST)
        if match is not None:
            whole = _WORD.match(text, match.end()) if match.end() == end + _LONGEST else None
            done = whole.end() if whole else match.end()
            yield start, done


def _of_aws(text: str) -> Iterator[Place]:
    places = [match.span(1) for match in _AWS_NAMED.finditer(text)]
    if _AWS_ID.search(text):
        places += [match.span() for match in _FORTY.finditer(text)]
    for begin, end in places:
        # Forty digits of hexadecimal are a commit.
        if not _HEX.fullmatch(text, begin, end):
            yield begin, end
