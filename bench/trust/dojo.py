"""AgentDojo's suites, with an agent that is a Tenon program: its tools are the program's externs."""
import dataclasses
import inspect
import json
import pickle
import types
import typing

import attacks
import tenon
from agentdojo.agent_pipeline.base_pipeline_element import BasePipelineElement
from agentdojo.attacks.attack_registry import load_attack
from agentdojo.functions_runtime import FunctionCall
from agentdojo.task_suite.load_suites import get_suite
from agentdojo.types import ChatAssistantMessage, text_content_block_from_string

VERSION = "v1.2.2"
ATTACK = "important_instructions_no_names"
RUN_SECONDS_MAX = 60.0


def load_suite(name):
    """The suite. AgentDojo parses its environment several times for each run, and here it is kept."""
    suite = get_suite(VERSION, name)
    load = suite.load_and_inject_default_environment
    known = {}

    def load_and_inject_default_environment(injections):
        key = tuple(sorted(injections.items()))
        if key not in known:
            known[key] = pickle.dumps(load(injections))
        return pickle.loads(known[key])

    suite.load_and_inject_default_environment = load_and_inject_default_environment
    return suite


def plain_value(value):
    """What an extern has returned, as JSON has it."""
    if hasattr(value, "model_dump"):
        fields = type(value).model_fields
        return {name: one_type(one) if is_of_several_types(fields[name].annotation) else one
                for name, one in value.model_dump(mode="json").items() if name in fields}
    if dataclasses.is_dataclass(value):
        return dataclasses.asdict(value)
    if isinstance(value, dict):
        return {key: plain_value(one) for key, one in value.items()}
    return [plain_value(one) for one in value] if isinstance(value, (list, tuple)) else value


def is_of_several_types(annotation):
    """Whether a field, or each item of it, can be of one of several types, which Tenon has no type for."""
    kinds = [kind for kind in typing.get_args(annotation) if kind is not type(None)]
    if typing.get_origin(annotation) in (typing.Union, types.UnionType) and len(kinds) > 1:
        return True
    return any(is_of_several_types(kind) for kind in kinds)


def one_type(value):
    """The value with texts in the place of objects."""
    if isinstance(value, list):
        return [one_type(one) for one in value]
    return json.dumps(value) if isinstance(value, dict) else value


class Call:
    """A call that a program has made, with what it returned."""

    def __init__(self, function, arguments, result):
        self.function = function
        self.arguments = arguments
        self.result = result


class TenonAgent(BasePipelineElement):
    """A program with the function `answer(ctx, request)`. `actor` is the model, and the person who approves."""

    name = "local"  # AgentDojo wants the name of a model that it knows

    def __init__(self, path, suite):
        self.suite = suite
        self.actor = None
        self.calls = []
        self.failure = None
        self._environment = None
        self._runtime = None
        self.program = tenon.load(path, model=lambda request: self.actor.complete(request), externs=self._externs(), extern_threads=0)

    def _externs(self):
        return {tool.name: self._extern(tool) for tool in self.suite.tools}

    def _extern(self, tool):
        names = list(tool.parameters.model_fields)

        def call(*arguments):
            given = {name: plain_value(value) for name, value in zip(names, arguments) if value is not None}
            try:
                result, _ = self._runtime.run_function(self._environment, tool.name, given, raise_on_error=True)
            finally:
                self.calls.append(Call(tool.name, given, None))
            self.calls[-1].result = plain_value(result)
            return self.calls[-1].result

        call.__signature__ = inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in names])
        return call

    def query(self, query, runtime, env, messages=(), extra_args=None):
        self._environment, self._runtime, self.calls, self.failure = env, runtime, [], None
        self.actor.begin(self)
        run = self.program.answer.start(query)
        output = ""
        try:
            while run.wait(RUN_SECONDS_MAX) == "asks":
                for wait in run.waits():
                    run.answer(wait, self.actor.decide(wait))
            output = run.result(RUN_SECONDS_MAX)
        except tenon.RunFailed as error:
            self.failure = str(error)
        traces = [FunctionCall(function=call.function, args=call.arguments) for call in self.calls]
        said = ChatAssistantMessage(role="assistant", content=[text_content_block_from_string(output)], tool_calls=traces)
        return query, runtime, env, [*messages, said], extra_args or {}

    def close(self):
        self.program.close()


def injections_of(suite, agent, user_task, injection_task):
    """The texts of the environment that the attacker has written."""
    return load_attack(ATTACK, suite, agent).attack(user_task, injection_task)


def ground_truth(suite, task, injections):
    """The calls that solve a task, or that an attack wants. What AgentDojo's tools may be called without is filled in, since it has a
    default in Python and none in Tenon."""
    environment = suite.load_and_inject_default_environment(injections)
    if hasattr(task, "init_environment"):
        environment = task.init_environment(environment)
    calls = attacks.calls_of(suite, task, environment)
    fields = {tool.name: tool.parameters.model_fields for tool in suite.tools}
    for call in calls:
        defaults = {name: field.default for name, field in fields[call.function].items()
                    if not field.is_required() and field.default is not None}
        call.args = {**defaults, **call.args}
    return calls
