"""AgentDojo's suites, with an agent that is a Tenon program: its tools are the program's externs."""
import inspect

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
    return get_suite(VERSION, name)


def plain_value(value):
    """What an extern has returned, as JSON has it."""
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {key: plain_value(one) for key, one in value.items()}
    return [plain_value(one) for one in value] if isinstance(value, (list, tuple)) else value


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
            given = {name: value for name, value in zip(names, arguments) if value is not None}
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
    """The calls that solve a task."""
    environment = suite.load_and_inject_default_environment(injections)
    if hasattr(task, "init_environment"):
        environment = task.init_environment(environment)
    return task.ground_truth(environment)
