"""Secrets of every kind, made up anew for each test run: nothing here was ever one.

They are put together when the tests run, so that nobody's scanner takes this file for a leak.
"""

import base64
import json
import random
import string
import uuid

LETTERS = string.ascii_letters + string.digits
SAFE = f"{LETTERS}-_"
CAPITALS = string.ascii_uppercase + string.digits
SMALL = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
DIGITS = "0123456789"
BASE58 = "".join(sorted(set(LETTERS) - set("0OIl")))

_chance = random.Random(20261116)


def some(count: int, letters: str = LETTERS) -> str:
    """Letters by chance, with a small one, a capital and a digit among them where they can be."""
    drawn = [_chance.choice(letters) for _ in range(count)]
    for place, kind in zip(_chance.sample(range(count), min(3, count)), "aA1", strict=False):
        wanted = [letter for letter in letters if _kind(letter) == kind]
        if wanted:
            drawn[place] = _chance.choice(wanted)
    return "".join(drawn)


def _kind(letter: str) -> str:
    return "a" if letter.islower() else "A" if letter.isupper() else "1"


def _json_web_token() -> str:
    parts = ({"alg": "HS256", "typ": "JWT"}, {"sub": some(8), "exp": 1900000000})
    encoded = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode().strip("=") for p in parts]
    return ".".join([*encoded, some(43, SAFE)])


def _armoured(label: str, lines: int = 6) -> str:
    body = "\n".join(some(64, f"{LETTERS}+/") for _ in range(lines))
    return f"-----BEGIN {label}-----\n{body}\n-----END {label}-----"


TOKENS = {
    "OpenAI": "sk-" + some(48),
    "OpenAI project": "sk-proj-" + some(120, SAFE),
    "OpenAI service account": "sk-svcacct-" + some(60, SAFE),
    "Anthropic": "sk-ant-api03-" + some(93, SAFE) + "AA",
    "OpenRouter": "sk-or-v1-" + some(64, HEX),
    "DeepSeek": "sk-" + some(32, HEX),
    "Langfuse": f"sk-lf-{uuid.UUID(int=_chance.getrandbits(128))}",
    "Groq": "gsk_" + some(52),
    "xAI": "xai-" + some(80),
    "Perplexity": "pplx-" + some(48),
    "Replicate": "r8_" + some(37),
    "NVIDIA": "nvapi-" + some(64, SAFE),
    "Hugging Face": "hf_" + some(34),
    "Tavily": "tvly-" + some(32),
    "Google key": "AIza" + some(35, SAFE),
    "Google access token": "ya29." + some(120, SAFE),
    "Google refresh token": "1//0" + some(60, SAFE),
    "Google client secret": "GOCSPX-" + some(28, SAFE),
    "GitHub": "ghp_" + some(36),
    "GitHub app": "ghs_" + some(36),
    "GitHub fine-grained": "github_pat_" + some(22) + "_" + some(59),
    "GitLab": "glpat-" + some(20, SAFE),
    "GitLab deploy": "gldt-" + some(20, SAFE),
    "Atlassian": "ATATT3xFfGF0" + some(180, SAFE),
    "Bitbucket": "ATBB" + some(32),
    "npm": "npm_" + some(36),
    "PyPI": "pypi-AgEIcHlwaS5vcmc" + some(120, SAFE),
    "RubyGems": "rubygems_" + some(48, HEX),
    "Docker Hub": "dckr_pat_" + some(27, SAFE),
    "JFrog": "AKCp" + some(69),
    "AWS key id": "AKIA" + some(16, CAPITALS),
    "AWS temporary key id": "ASIA" + some(16, CAPITALS),
    "Azure client secret": some(3) + "8Q~" + some(34, f"{LETTERS}_-~."),
    "Alibaba": "LTAI" + some(20),
    "DigitalOcean": "dop_v1_" + some(64, HEX),
    "Databricks": "dapi" + some(32, HEX),
    "Vault": "hvs." + some(90, SAFE),
    "Terraform": some(14) + ".atlasv1." + some(67, SAFE),
    "Pulumi": "pul-" + some(40, HEX),
    "Fly": "fm2_" + some(200, f"{LETTERS}+/"),
    "Netlify": "nfp_" + some(36),
    "Supabase": "sbp_" + some(40, HEX),
    "PlanetScale": "pscale_tkn_" + some(43, SAFE),
    "Doppler": "dp.pt." + some(43),
    "Tailscale": "tskey-auth-" + some(12) + "-" + some(32),
    "Heroku": "HRKU-AA" + some(58, SAFE),
    "Dynatrace": "dt0c01." + some(24, CAPITALS) + "." + some(64, CAPITALS),
    "1Password": "ops_eyJ" + some(250),
    "Stripe": "sk_live_" + some(24),
    "Stripe test": "sk_test_" + some(24),
    "Stripe restricted": "rk_live_" + some(24),
    "Stripe webhook": "whsec_" + some(32),
    "Square": "sq0atp-" + some(22, SAFE),
    "Shopify": "shpat_" + some(32, HEX),
    "Braintree": "access_token$production$" + some(16, SMALL) + "$" + some(32, HEX),
    "Razorpay": "rzp_live_" + some(14),
    "SendGrid": "SG." + some(22, SAFE) + "." + some(43, SAFE),
    "Mailgun": "key-" + some(32, HEX),
    "Mailchimp": some(32, HEX) + "-us12",
    "Brevo": "xkeysib-" + some(64, HEX) + "-" + some(16),
    "Slack bot": "xoxb-" + some(12, DIGITS) + "-" + some(12, DIGITS) + "-" + some(24),
    "Slack app": "xapp-1-A" + some(10, CAPITALS) + "-" + some(13, DIGITS) + "-" + some(64, HEX),
    "Twilio": "SK" + some(32, HEX),
    "Telegram": some(10, "123456789") + ":AA" + some(33, SAFE),
    "Discord": "M" + some(23) + "." + some(6) + "." + some(27),
    "Facebook": "EAAC" + some(150),
    "Notion": "ntn_" + some(46),
    "Linear": "lin_api_" + some(40),
    "Figma": "figd_" + some(40, SAFE),
    "Airtable": "pat" + some(14) + "." + some(64, HEX),
    "Sentry": "sntryu_" + some(64, HEX),
    "Grafana": "glsa_" + some(32) + "_" + some(8, HEX),
    "New Relic": "NRAK-" + some(27, CAPITALS),
    "PostHog": "phx_" + some(43),
    "Postman": "PMAK-" + some(24, HEX) + "-" + some(34, HEX),
    "Contentful": "CFPAT-" + some(43, SAFE),
    "SonarQube": "squ_" + some(40, HEX),
    "HubSpot": f"pat-na1-{uuid.UUID(int=_chance.getrandbits(128))}",
    "CircleCI": "CCIPAT_" + some(22) + "_" + some(40, HEX),
    "Mapbox": "sk.eyJ1Ijoi" + some(60) + "." + some(22),
    "JSON web token": _json_web_token(),
    "age": "AGE-SECRET-KEY-1" + some(58, "QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L"),
    "wallet": "xprv" + some(107, BASE58),
}
"""What is a secret by its format alone, wherever it stands."""

BLOCKS = {
    "RSA": _armoured("RSA PRIVATE KEY"),
    "PKCS 8": _armoured("PRIVATE KEY"),
    "encrypted": _armoured("ENCRYPTED PRIVATE KEY"),
    "OpenSSH": _armoured("OPENSSH PRIVATE KEY"),
    "elliptic": _armoured("EC PRIVATE KEY", 3),
    "PGP": _armoured("PGP PRIVATE KEY BLOCK").replace("-----\n", "-----\nVersion: GnuPG v2\n\n", 1),
    "PGP message": _armoured("PGP MESSAGE"),
    "cut off": _armoured("RSA PRIVATE KEY").rpartition("\n")[0],
    "on one line": _armoured("PRIVATE KEY").replace("\n", "\\n"),
}

PASSWORD = "Tr0ub" + some(6)
KEY = some(32)
LONG = some(86)
FORTY = f"{some(20)}/{some(18)}+"
_BASIC = base64.b64encode(f"admin:{PASSWORD}".encode()).decode()
NAMED = {
    "header": (f"Authorization: Basic {_BASIC}", _BASIC),
    "header in code": (f"headers['Authorization'] = 'Basic {_BASIC}'", _BASIC),
    "bearer": (f"authorization: bearer {KEY}", KEY),
    "token scheme": (f"Authorization: token {KEY}", KEY),
    "key header": (f"X-Api-Key: {KEY}", KEY),
    "signed": (f"Authorization: AWS4-HMAC-SHA256 Credential=x/y, Signature={KEY}", KEY),
    "cookie": (f"Cookie: theme=dark; session={KEY}", KEY),
    "set cookie": (f"Set-Cookie: sid={KEY}; HttpOnly; Path=/", KEY),
    "query": (f"GET https://api.example.org/v1?api_key={KEY}&page=2", KEY),
    "second in a query": (f"/callback?state=1&access_token={KEY}#x", KEY),
    "word in a query": ("https://x.example/?password=swordfish&u=1", "swordfish"),
    "signed address": (f"https://x.blob.example/c?sv=2020&sig={KEY}%3D", KEY),
    "user and password": (f"postgresql://me:{PASSWORD}@host/db", PASSWORD),
    "password alone": (f"redis://:{PASSWORD}@cache:6379/0", PASSWORD),
    "password with signs": ("mysql://me:p@ss/w0rd@host/db", "w0rd"),
    "token as user": (f"https://{KEY}@github.com/a/b.git", KEY),
    "token behind a user": (f"https://x-access-token:{KEY}@github.com/a/b.git", KEY),
    "token before nothing": (f"https://{KEY}:@api.example.org/", KEY),
    "token and a word": (f"https://{KEY}:x-oauth-basic@github.com/a", KEY),
    "address in an address": (f"next=postgresql%3A%2F%2Fme%3A{PASSWORD}%40host", PASSWORD),
    "setting": (f"password={PASSWORD}", PASSWORD),
    "setting as a word": ("password=swordfish", "swordfish"),
    "setting among others": (f"host=db user=me password={PASSWORD} dbname=x", PASSWORD),
    "connection string": (f"Server=db;User Id=me;Password={PASSWORD};Encrypt=yes", PASSWORD),
    "storage": (f"AccountName=x;AccountKey={LONG}==;EndpointSuffix=y", LONG),
    "dotenv": (f"export DB_PASSWORD={PASSWORD}", PASSWORD),
    "dotenv, quoted": ("DB_PASSWORD='swordfish'", "swordfish"),
    "numbered": (f"API_KEY_2={KEY}", KEY),
    "yaml": (f"db:\n  password: {PASSWORD}\n", PASSWORD),
    "ini": (f"[db]\npassword = {PASSWORD}\n", PASSWORD),
    "toml": (f'api_key = "{KEY}"', KEY),
    "json": (f'{{"user": "ann", "password": "{PASSWORD}"}}', PASSWORD),
    "json in json": (json.dumps(json.dumps({"clientSecret": KEY})), KEY),
    "php": (f"'db_password' => '{PASSWORD}',", PASSWORD),
    "go": (f'dbPassword := "{PASSWORD}"', PASSWORD),
    "typed": (f'const token: string = "{KEY}"', KEY),
    "xml": (f"<password>{PASSWORD}</password>", PASSWORD),
    "xml attribute": (f'<add key="DbPassword" value="{PASSWORD}" />', PASSWORD),
    "flag": (f"tool --password {PASSWORD} --verbose", PASSWORD),
    "flag with a sign": (f"tool --api-key={KEY}", KEY),
    "arguments": (f'["tool", "--token", "{KEY}"]', KEY),
    "curl": (f"curl -u admin:{PASSWORD} https://x.example", PASSWORD),
    "mysql": (f"mysql -u root -p{PASSWORD} shop", PASSWORD),
    "sshpass": (f"sshpass -p {PASSWORD} ssh me@host", PASSWORD),
    "sql": (f"CREATE USER me IDENTIFIED BY '{PASSWORD}'", PASSWORD),
    "netrc": (f"machine x.example login me password {PASSWORD}", PASSWORD),
    "pgpass": (f"db.example:5432:shop:me:{PASSWORD}", PASSWORD),
    "docker": (f"ENV API_TOKEN {KEY}", KEY),
    "docker login": (f'{{"auths": {{"x.example": {{"auth": "{_BASIC}"}}}}}}', _BASIC),
    "npmrc": (f"//registry.example/:_authToken={KEY}", KEY),
    "sentence": (f"The password is {PASSWORD}, do not tell.", PASSWORD),
    "AWS secret": (f"aws_secret_access_key = {FORTY}", FORTY),
    "AWS pair": (f"{TOKENS['AWS key id']} {FORTY}", FORTY),
    "AWS session": (f"AWS_SESSION_TOKEN={LONG}", LONG),
    "Slack hook": (f"https://hooks.slack.com/services/T1/B2/{KEY}", KEY),
    "Discord hook": (f"https://discord.com/api/webhooks/{some(18, DIGITS)}/{KEY}", KEY),
    "Telegram address": (f"https://api.telegram.org/bot123456789:{KEY}/getMe", KEY),
    "PuTTY": (f"Private-Lines: 2\n{some(64)}\n{KEY}==\nPrivate-MAC: 00", KEY),
    "JSON web key": (f'{{"kty": "EC", "x": "{some(43)}", "d": "{KEY}"}}', KEY),
    "seed": (f"seed phrase: {' '.join(['zebra', 'apple', 'river'] * 4)}", "zebra apple"),
}
"""A text, and what must not be in it any more."""
