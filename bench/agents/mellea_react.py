"""The chapter's ReAct task with Mellea's own react() and native tool calls."""
import asyncio

from mellea.backends import ModelOption, tool
from mellea.stdlib.context import ChatContext
from mellea.stdlib.frameworks.react import react

import tasks


@tool
def zip_lookup(city: str) -> str:
    """Returns the ZIP code given a town name.

    Args:
        city: The name of the town.
    """
    return tasks.Weather.zip_lookup(city)


@tool
def weather(zip_code: str) -> str:
    """Returns the weather given a ZIP code.

    Args:
        zip_code: The five digits of the ZIP code.
    """
    return tasks.Weather.weather(zip_code)


async def answer(backend):
    try:
        result, _ = await react(goal=tasks.Weather.goal, context=ChatContext(), backend=backend, tools=[zip_lookup, weather],
                                model_options={ModelOption.TOOL_CHOICE: "required"}, loop_budget=tasks.Weather.steps_max)
        return result.value
    finally:
        await backend.aclose()


def run(backend):
    return asyncio.run(answer(backend))
