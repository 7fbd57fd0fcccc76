"""Plans of a service: where two differ on what a route takes, a person may say which is meant."""

import json

import pytest

from tests.cart import Cart, cart_job
from tests.service_scripts import PLAN
from twinsmith.core.model import Prompt
from twinsmith.core.people.question import Asked, PersonalQuestion

PLANS = "You plan an HTTP service in Python"


class Person:
    """Somebody who answers by the number of a choice."""

    def __init__(self, choice: int) -> None:
        self._choice = choice
        self.asked: list[PersonalQuestion] = []

    async def ask(self, question: PersonalQuestion) -> Asked:
        self.asked.append(question)
        return Asked(answer=question.choices[self._choice])


@pytest.mark.parametrize("choice", [0, 1])
async def test_a_persons_choice_is_what_the_route_takes(choice: int) -> None:
    world = Cart()
    right, plan = world.say, json.loads(PLAN)
    (add,) = [each for each in plan["routes"] if each["function"] == "add_item"]
    del add["takes"]["quantity"]

    def say(prompt: Prompt) -> str:
        if PLANS in prompt.text and prompt.ensemble == 2 and prompt.nth > 210:
            return json.dumps(plan)
        return right(prompt)

    world.say = say
    world.desk = person = Person(choice)
    job = cart_job()
    await world.build(job)
    asked = person.asked[0]
    assert asked.choices == ("product, quantity, unit_price", "product, unit_price")
    assert asked.assumed == asked.choices[0]
    assert asked.id == f"{job.run}.1"
    assert asked.text.startswith("Does POST /cart/items take product, quantity, unit_price, or ")
    coded = next(p.text for p in world.prompts("coder") if "`add_item`" in p.text)
    assert ("quantity: int" in coded.partition("def add_item(")[2].partition(")")[0]) == (
        not choice
    )
