import pytest

from twinsmith.core.judging.security_findings import security_findings

BAD = {
    "SQL is put together from text": [
        "db.execute(f\"SELECT * FROM users WHERE name = '{name}'\")",
        "db.execute(\"SELECT * FROM users WHERE name = '%s'\" % name)",
        'db.execute("SELECT * FROM users WHERE name = \'" + name + "\'")',
        "db.execute('DELETE FROM users WHERE id = {}'.format(n))",
        "db.cursor().executescript(f'UPDATE users SET age = {age}')",
        "query = f\"SELECT * FROM users WHERE name = '{name}'\"\ncursor.execute(query)",
        "sql = 'DELETE FROM users WHERE id = ' + n\ndb.execute(sql)",
    ],
    "a secret stands in the source": [
        "SECRET_KEY = 'your_secret_key'",
        "app.config['SECRET_KEY'] = 'your_secret_key'",
        "app.secret_key = b'abc'",
        "JWT_SECRET = os.environ.get('JWT_SECRET', 'dev')",
        "SECRET = os.getenv('SECRET', 'dev')",
        "SECRET = os.environ.get('SECRET') or 'dev'",
        "token = jwt.encode(claims, 'secret', algorithm='HS256')",
        "claims = jwt.decode(token, 'secret', algorithms=['HS256'])",
    ],
    "debug mode runs code": ["app.run(debug=True)", "app.config['DEBUG'] = True"],
    "too fast for passwords": [
        "kept = hashlib.sha256(password.encode()).hexdigest()",
        "kept = hashlib.md5((salt + data['password']).encode()).hexdigest()",
        "kept = sha1(pwd)",
    ],
    "kept or compared in plain": [
        "db.execute('INSERT INTO users VALUES (?, ?)', (name, password))",
        "db.execute('SELECT 1 FROM u WHERE n = ? AND p = ?', [name, data['password']])",
        "db.execute('INSERT INTO users VALUES (?, ?)', (name, data.get('password')))",
    ],
    "kept in plain": ["users[name] = password", "users[name] = {'password': password}"],
    "compared in plain": [
        "if user['password'] == password:\n    pass",
        "if users.get(name) != data['password']:\n    pass",
        "ok = row[1] == request.json['password']",
    ],
    "a password is printed": ["print(password)", "log.info(f'hello {name} {password}')"],
    "without checking their signature": [
        "jwt.decode(token, options={'verify_signature': False})",
        "jwt.decode(token, key, verify=False)",
        "jwt.decode(token, key, algorithms=['HS256', 'none'])",
    ],
    "runs what it": [
        "eval(request.data)",
        "exec(text)",
        "os.system('ls ' + name)",
        "pickle.loads(request.data)",
        "yaml.load(text)",
    ],
    "a shell reads": ["subprocess.run(f'ls {name}', shell=True)"],
}
GOOD = [
    "db.execute('SELECT * FROM users WHERE name = ?', (name,))",
    "db.execute(f'SELECT * FROM {TABLE} WHERE name = ?', (name,))",
    "db.execute('SELECT a ' + 'FROM b')",
    "query = 'SELECT * FROM users WHERE name = ?'\ncursor.execute(query, (name,))",
    "told = f'Select {name} from the list'\nprint(told)",
    "db.execute('INSERT INTO users VALUES (?, ?)', (name, generate_password_hash(password)))",
    "password = generate_password_hash(password)\nusers[name] = password",
    "db.execute('INSERT INTO users VALUES (?, ?)', (name, password_hash))",
    "users[name] = {'password': hash_password(password)}",
    "SECRET = os.environ.get('SECRET') or secrets.token_hex(32)",
    "SECRET = os.environ['SECRET']",
    "SECRET_HEADER = request.headers.get('X')",
    "app.run(host='0.0.0.0', port=int(os.environ['PORT']))",
    "app.run(debug=False)",
    "kept = hashlib.sha256(text.encode()).hexdigest()",
    "kept = hashlib.scrypt(password.encode(), salt=salt, n=16384, r=8, p=1)",
    "kept = hashlib.pbkdf2_hmac('sha256', password.encode(), salt, 600_000)",
    "if password == '':\n    pass",
    "if password != confirm_password:\n    pass",
    "if hash_password(password, salt) == row['password_hash']:\n    pass",
    "ok = len(password) == minimum",
    "print('password missing')",
    "passed = users[bypass] == passenger",
    "claims = jwt.decode(token, SECRET, algorithms=['HS256'])",
    "eval('1 + 1')",
    "yaml.load(text, Loader=yaml.SafeLoader)",
    "subprocess.run(['ls', name])",
    "this is not Python",
]


@pytest.mark.parametrize(
    ("line", "what"), [(line, what) for what, lines in BAD.items() for line in lines]
)
def test_a_mistake_is_found_where_it_stands(line: str, what: str) -> None:
    body = "\n".join(f"    {each}" for each in line.splitlines())
    for source, number in ((line, 1), (f"def f(name, password):\n{body}\n", 2)):
        (finding,) = security_findings(source)
        assert what in finding.what
        assert finding.where == f"line {number}"
        assert finding.evidence == line.splitlines()[0]
        assert finding.severity == "blocking"


@pytest.mark.parametrize("line", GOOD)
def test_good_code_is_left_alone(line: str) -> None:
    assert security_findings(line) == ()


def test_what_can_be_guessed_is_a_note() -> None:
    (finding,) = security_findings("code = ''.join(random.choices(letters, k=6))")
    assert (finding.severity, finding.where) == ("note", "line 1")


def test_findings_come_in_the_order_of_their_lines() -> None:
    source = "x = 1\napp.run(debug=True)\n\ndef f(password):\n    print(password)\n"
    assert [f.where for f in security_findings(source)] == ["line 2", "line 5"]
