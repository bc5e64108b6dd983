"""The Kripke agent of the tutorial's chapter, which Mellea does not ship: the chapter's functions on Mellea's current API.

`run` does what the chapter's text says. It corrects the chapter's listing in four points:
- the listing never counts its budget up; here it does;
- the listing ignores the actions' postconditions; here an action's result is validated against them and sampled again, like requirements;
- the listing tests whether the list of verdicts is empty; here each verdict has to hold;
- the listing fails inside Pydantic if no action is enabled; here the agent gives up.
`run_as_printed` ignores the postconditions, as the listing does. Without the other three corrections it would not end, or not guard.
"""
from typing import Literal

import pydantic
from mellea import MelleaSession, generative
from mellea.core import Component, ModelOutputThunk
from mellea.stdlib.context import ChatContext
from mellea.stdlib.requirements import reqify
from mellea.stdlib.sampling import RejectionSamplingStrategy

import tasks


class ConstrainedStub(Component):
    """A generative function with pre- and postconditions. Its arguments are in the conversation."""

    def __init__(self, stub, preconds, postconds):
        self.stub = stub
        self.preconds = [reqify(precond) for precond in preconds]
        self.postconds = [reqify(postcond) for postcond in postconds]

    @property
    def name(self):
        return self.stub.__name__

    @property
    def response_model(self):
        return self.stub._response_model  # pylint: disable=protected-access

    def parts(self):
        return self.stub.parts()

    def format_for_llm(self):
        return self.stub.format_for_llm()

    def _parse(self, computed):
        return self.response_model.model_validate_json(computed.value).result


def constrained(preconds, postconds):
    return lambda stub: ConstrainedStub(stub, preconds, postconds)


@constrained(preconds=["is a short story"], postconds=["contains a summary of the story's theme"])
@generative
def summarize_theme(story: str) -> str:
    """Summarizes the theme of a short story in one sentence."""


@constrained(preconds=["is a short story"], postconds=["is the title and author of a poem"])
@generative
def suggest_poem(story: str) -> str:
    """Based upon a short story, suggests a poem with a similar mood."""


@constrained(preconds=["contains a summary of the story's theme"],
             postconds=["each element of the list is the title and author of a significant novel"])
@generative
def suggest_novels_based_on_theme(summary: str) -> list[str]:
    """Based upon a summary of a short story, suggests novels with similar themes."""


def holds(session, requirement):
    return all(bool(verdict) for verdict in session.validate(requirement))


def filter_actions(session, actions):
    return [action for action in actions if all(holds(session, precond) for precond in action.preconds)]


def select_action(session, actions, goal):
    names = [action.name for action in actions]
    schema = pydantic.create_model("NextActionSelectionSchema", next_action=Literal[*names])
    listed = "\n".join(f" * {name}" for name in names)
    response = session.chat(f"Your ultimate goal is {goal.description}. Select the next action from the list of actions:\n{listed}",
                            format=schema)
    chosen = schema.model_validate_json(response.content).next_action
    return next(action for action in actions if action.name == chosen)


def act(session, action, validated):
    """Returns the action's result, or None if it violates the postconditions."""
    if not validated:
        return session.act(action, strategy=None, format=action.response_model).parsed_repr
    sampled = session.act(action, requirements=action.postconds, format=action.response_model,
                          strategy=RejectionSamplingStrategy(loop_budget=1 + tasks.REPAIRS_MAX), return_sampling_results=True)
    return sampled.result.parsed_repr if sampled.success else None


def kripke_agent(session, actions, goal, budget, validated):
    def agent(initial_state):
        session.ctx = session.ctx.add(ModelOutputThunk(initial_state))
        for _ in range(budget):
            before = session.ctx
            enabled = filter_actions(session, actions)
            if not enabled:
                raise ValueError("no action is enabled")
            result = act(session, select_action(session, enabled, goal), validated)
            if result is None:
                session.ctx = before  # the next step begins at the same state
            elif holds(session, goal):
                return result
        raise ValueError("the budget is spent")
    return agent


def run(backend, story, validated=True):
    session = MelleaSession(backend=backend, ctx=ChatContext())
    actions = [summarize_theme, suggest_poem, suggest_novels_based_on_theme]
    return kripke_agent(session, actions, reqify(tasks.Novels.goal), tasks.Novels.steps_max, validated)(story)


def run_as_printed(backend, story):
    return run(backend, story, validated=False)
