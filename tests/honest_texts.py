"""Texts and programs without secrets: masking must not change a letter of them."""

import base64
import hashlib
import json
import uuid

_DATA = bytes(range(256)) * 3
_SHA = hashlib.sha256(b"honest").hexdigest()

PLAIN = (
    _SHA,
    hashlib.sha1(b"honest", usedforsecurity=False).hexdigest(),
    hashlib.md5(b"honest", usedforsecurity=False).hexdigest(),
    hashlib.sha512(b"honest").hexdigest(),
    f"commit {hashlib.sha1(b'x', usedforsecurity=False).hexdigest()}\nparent 4a4e8137eae890",
    str(uuid.UUID(int=0x1234567890ABCDEF1234567890ABCDEF)),
    f"numpy==2.2.0 \\\n    --hash=sha256:{_SHA} \\\n    --hash=sha256:{_SHA[::-1]}",
    f"golang.org/x/net v0.30.0 h1:{base64.b64encode(hashlib.sha256(b'go').digest()).decode()}",
    f'"integrity": "sha512-{base64.b64encode(hashlib.sha512(b"npm").digest()).decode()}"',
    f"data:image/png;base64,iVBORw0KGgo{base64.b64encode(_DATA).decode()}",
    base64.encodebytes(_DATA).decode(),
    "a" * 64,
    "0123456789abcdef" * 4,
    "20261115-101500-a3f9 in /home/me/.local/share/twinsmith/runs/20261115-101500-a3f9/result",
    "see https://host:8080/path and postgresql://me@host/db, ssh://git@github.com/a/b.git",
    "https://host:8080/users/me@example.org?q=a&page=2#top",
    "write postgresql://USER:PASSWORD@HOST:PORT/NAME, or postgresql://user:password@host/db",
    "risk-averse-and-very-long-hyphenated-words, sk-learn-based-classifier-pipeline",
    "users log in with a password: at least 8 characters, one digit",
    "Each user has a name, a password and a token; the token is returned by POST /login.",
    "The password is at least 8 characters long; the secret is hashed with argon2id.",
    "password: required, token: optional, secret: HS256, api_key: uuid4, credential: base64url",
    "Use --password PASSWORD or --token <token>; the --password option wins over PGPASSWORD.",
    "an Authorization: Bearer <token> header; Authorization: Basic <credentials>",
    "bearer token-based-authentication, basic authentication, basic arithmetic",
    "?token={token}&api_key=${API_KEY}&password=***&secret=%s&key=value",
    "password=[masked]&token=[masked] postgresql://[masked]@host/db",
    "Write a function count_tokens(text, max_tokens=2048) that counts tokens.",
    "Is the key in the map? key=value pairs, primary key: id, keys: a, b and c.",
    "-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
    "a line with -----BEGIN PRIVATE KEY----- and one with -----END PRIVATE KEY----- around it",
    "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIHonestHonestHonestHonestHonestHonest me@host",
    json.dumps({"type": "object", "properties": {"password": {"type": "string", "minLength": 8}}}),
    json.dumps({"token": {"type": "string"}, "required": ["token"], "password": "wrong"}),
    json.dumps({"prompt_sha256": _SHA, "idempotency_key": "run/slow/0", "tokens": 120}),
    'POST /login {"user": "ann", "password": "secret"} gives 200; "password": "short" gives 422',
    "MISSING_TOKEN=1, TOKEN_LIMIT=4096, PASSWORD_MIN_LENGTH=8, SECRET_NAME=db/prod",
    "token_type=bearer expires_in=3600",
    "Übergröße: Straße, naïve café, 密码 ist ein Wort; İstanbul",
)

CODE = (
    # Python
    "def login(name: str, password: str) -> bool:\n    return check(password=password)\n",
    'password = request.json["password"]\ntoken: str = ""\nsecret = None\n',
    'api_key=os.environ["API_KEY"]\nclient = Client(api_key=api_key, token=get_token())\n',
    "if password == \"\":\n    raise ValueError('password: must not be empty')\n",
    "assert login('ann', password='wrong') == 401\n",
    'SECRET = os.environ.get("SECRET_KEY") or secrets.token_hex(32)\n',
    'print("token=" + token, f"password={password}", "secret: %s" % secret)\n',
    "START = '-----BEGIN PRIVATE KEY-----'\nif START in text and '-----END' in text:\n    pass\n",
    "    connect(\n        host=host,\n        password=db_pass2,\n    )\n",
    'headers = {"Authorization": f"Bearer {token}", "X-Api-Key": self.settings.api_key}\n',
    "token = tokens[position + 1]; secret = keypair[:32]; password = user.password\n",
    "sorted(items, key=lambda pair: pair[1]); d = dict(key=1, token=tok1)\n",
    # Perl
    'my ($user, $password) = @_;\nDBI->connect($dsn, $user, $password);\nprint "token: $t";\n',
    "my %h = (password => $password, token => shift, secret => undef);\n",
    # Rust
    'fn login(user: &str, password: &str) -> Option<Id> {\n    let secret = env::var("SECRET")?;\n',
    "struct Config { api_key: String, token: Option<String>, secret: [u8; 32] }\n",
    # Go
    'type Login struct {\n\tPassword string `json:"password"`\n\tToken string `json:"token"`\n}\n',
    'password := r.FormValue("password")\nif token == "" { return errNoToken }\n',
    # C and C++
    '#define TOKEN_PLUS 1\nconst char *password = getenv("PGPASSWORD");\nif (*secret) return 1;\n',
    "std::string token = lexer.next(); auto key = map.find(k); enum { TOKEN = 0x0005 };\n",
    "switch (token) { case '+': break; } next_token = &tokens[i];\n",
    # JavaScript
    "const { password, token } = req.body; const apiKey = process.env.API_KEY;\n",
    'fetch(`/x?token=${token}`, { headers: { authorization: "Bearer " + token } });\n',
    # Configuration
    "password: ${DB_PASSWORD}\napi_key: {{ vault.api_key }}\ntoken: !secret token\n",
    'SECRET_KEY=$(openssl rand -hex 32)\nDB_PASSWORD="${DB_PASSWORD:-}"\n',
)
"""Programs in the languages that are built, and what they are configured with."""
