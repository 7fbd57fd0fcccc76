"""Example plans of services that nobody asks for: small models stay near to what they see."""

_TASK = (
    "An observatory keeps telescopes with name and site. {who} point one at a star for some hours "
    "of 80 euros each; a telescope that is broken cannot be pointed. List the telescopes, of one "
    "site if wanted, see what one has cost so far, and take one away."
)
_STUBS = '''telescopes = Table(id=int, name=str, site=str, broken=bool, cost=int)

@post("/telescopes", status=201)
def add_telescope(name: str, site: str):
    """keeps telescopes with name and site"""
    return {{"id": 1, "name": "Vera", "site": "Chile", "broken": False, "cost": 0}}

@post("/telescopes/{{id}}/point", status=200{login})
def point_telescope(id: int, star: str, hours: int):
    """{who} point one at a star for some hours of 80 euros each"""
    refuse(404, "there is no such telescope")
    refuse(409, "the telescope is broken")
    return {{"id": 1, "star": "Vega", "cost": 240}}

@get("/telescopes", status=200)
def list_telescopes(site: str = ""):
    """List the telescopes, of one site if wanted"""
    return [{{"id": 1, "name": "Vera", "site": "Chile", "broken": False, "cost": 240}}]

@get("/telescopes/{{id}}/cost", status=200)
def telescope_cost(id: int):
    """see what one has cost so far"""
    refuse(404, "there is no such telescope")
    return {{"id": 1, "cost": 240}}

@delete("/telescopes/{{id}}", status=204{login})
def remove_telescope(id: int):
    """take one away"""
    refuse(404, "there is no such telescope")
    return None
'''
LOGIN_RULE = (
    "- `login=True` where somebody has to be logged in; who that is comes with the token and is no "
    "argument. Registering and logging in are there by themselves: no stubs and no table for "
    "them, unless the task names their paths.\n"
)


def example_for(*, login: bool) -> tuple[str, str]:
    """An example task and its plan, with or without a login, as the task at hand has it."""
    who = "Members who are logged in" if login else "Visitors"
    stubs = _STUBS.format(who=who, login=", login=True" if login else "")
    return _TASK.format(who=who), stubs
