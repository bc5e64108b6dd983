"""The `ag-ui-protocol` package of Python: sends its request, and parses the reply with its event classes."""
import json
import urllib.error
import urllib.request

from ag_ui.core import (CustomEvent, Event, EventType, Interrupt, ResumeEntry, RunAgentInput, RunErrorEvent,
                        RunFinishedEvent, RunStartedEvent, StateSnapshotEvent, ToolCallResultEvent, UserMessage)
from pydantic import BaseModel, TypeAdapter

EVENTS = TypeAdapter(Event)
SECONDS_MAX = 60


def send(server, token, agent, request):
    """The events of one request, each parsed by its class."""
    body = request.model_dump_json(by_alias=True).encode()
    headers = {"Authorization": "Bearer " + token, "Accept": "text/event-stream", "Content-Type": "application/json"}
    call = urllib.request.Request(f"http://127.0.0.1:{server.port}/agui/{agent}", body, headers)
    with urllib.request.urlopen(call, timeout=SECONDS_MAX) as reply:
        assert reply.headers["Content-Type"].startswith("text/event-stream")
        text = reply.read().decode()
    events = [EVENTS.validate_python(json.loads(part.removeprefix("data: ")), strict=False)
              for part in text.split("\n\n") if part.startswith("data: ")]
    for event in events:
        check_fields(event)
    check_order(events, request)
    return events


def check_fields(model):
    """The classes keep unknown fields: there must be none."""
    assert not model.model_extra, (type(model).__name__, model.model_extra)
    for name in type(model).model_fields:
        value = getattr(model, name)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, BaseModel):
                check_fields(item)


def check_order(events, request):
    """Checks one run from start to end: messages and calls are opened, filled and closed."""
    assert isinstance(events[0], RunStartedEvent) and events[0].protocol_version == "1.0"
    assert events[0].thread_id == request.thread_id and events[0].run_id == request.run_id
    ends = [event for event in events if isinstance(event, (RunFinishedEvent, RunErrorEvent))]
    assert ends == [events[-1]], ends
    open_things = set()
    for event in events:
        if event.type in (EventType.TEXT_MESSAGE_START, EventType.TOOL_CALL_START):
            identity = getattr(event, "message_id", None) or event.tool_call_id
            assert identity not in open_things
            open_things.add(identity)
        elif event.type in (EventType.TEXT_MESSAGE_CONTENT, EventType.TOOL_CALL_ARGS):
            assert (getattr(event, "message_id", None) or event.tool_call_id) in open_things
        elif event.type in (EventType.TEXT_MESSAGE_END, EventType.TOOL_CALL_END):
            open_things.remove(getattr(event, "message_id", None) or event.tool_call_id)
    assert not open_things, open_things


class Thread:
    def __init__(self, server, token, agent, name):
        self.server, self.token, self.agent, self.name = server, token, agent, name
        self.messages, self.runs = [], 0

    def run(self, resume=None):
        self.runs += 1
        request = RunAgentInput(thread_id=self.name, run_id=f"run-{self.runs}", protocol_version="1.0", state={},
                                messages=self.messages, tools=[], context=[], forwarded_props={}, resume=resume)
        return send(self.server, self.token, self.agent, request)

    def say(self, text):
        self.messages.append(UserMessage(id=str(len(self.messages)), content=text))
        return self.run()

    def answer(self, interrupt, payload):
        return self.run([ResumeEntry(interrupt_id=interrupt.id, status="resolved", payload=payload)])


def text_of(events):
    return "".join(event.delta for event in events if event.type == EventType.TEXT_MESSAGE_CONTENT)


def interrupts_of(events):
    outcome = events[-1].outcome
    assert outcome.type == "interrupt" and all(isinstance(entry, Interrupt) for entry in outcome.interrupts), outcome
    return outcome.interrupts


def test_a_thread(server, token):
    thread = Thread(server, token, "Desk", "t")
    events = thread.say("hello")
    assert text_of(events) == "turn 1: hello" and events[-1].result == "turn 1: hello"
    assert events[-1].outcome.type == "success"
    state = [event.snapshot for event in events if isinstance(event, StateSnapshotEvent)]
    assert state == [{"turns": 1}], state
    assert text_of(thread.say("again")) == "turn 2: again"


def test_tokens_are_counted(server, token):
    end = Thread(server, token, "tell", "t").say("owls")[-1]
    assert end.result == "Owls fly." and len(end.usage) == 1, end
    usage = end.usage[0]
    assert usage.input_tokens > 0 and usage.output_tokens > 0 and usage.model, usage
    assert usage.total_tokens == usage.input_tokens + usage.output_tokens


def test_a_question_and_its_answer(server, token):
    thread = Thread(server, token, "Desk", "t")
    asked = thread.say("refund")
    assert text_of(asked) == "How much?" and not any(isinstance(event, CustomEvent) for event in asked)
    (interrupt,) = interrupts_of(asked)
    assert interrupt.message == "How much?" and interrupt.response_schema["type"] == "integer", interrupt
    try:
        thread.answer(interrupt, "lots")
        raise AssertionError("a wrong answer was taken")
    except urllib.error.HTTPError as error:
        assert error.code == 422 and "lots" in error.read().decode()
    assert thread.answer(interrupt, 12)[-1].result == "refunded 12"
    try:
        thread.answer(interrupt, 12)
        raise AssertionError("an answer was taken twice")
    except urllib.error.HTTPError as error:
        assert error.code == 409
    assert interrupts_of(thread.say("refund"))
    assert thread.say("7")[-1].result == "refunded 7", "a message answers too"


def test_two_questions_at_once(server, token):
    thread = Thread(server, token, "Desk", "t")
    first, second = sorted(interrupts_of(thread.say("both")), key=lambda entry: entry.message)
    (left,) = interrupts_of(thread.answer(first, 1))
    assert left == second, left
    assert thread.answer(second, "yes")[-1].result == "1 yes"
    first, second = sorted(interrupts_of(thread.say("both")), key=lambda entry: entry.message)
    events = thread.run([ResumeEntry(interrupt_id=second.id, status="resolved", payload="no"),
                         ResumeEntry(interrupt_id=first.id, status="resolved", payload=2)])
    assert events[-1].result == "2 no"


def test_a_question_with_a_deadline_and_one_without_an_answer(server, token):
    thread = Thread(server, token, "Desk", "t")
    (interrupt,) = interrupts_of(thread.say("soon"))
    assert interrupt.expires_at.endswith("Z") and "T" in interrupt.expires_at, interrupt
    ended = thread.run([ResumeEntry(interrupt_id=interrupt.id, status="cancelled")])
    assert ended[-1].outcome.type == "cancelled", ended
    assert thread.say("on")[-1].result.endswith(": on"), "the thread continues"


def test_tool_calls(server, token):
    events = Thread(server, token, "Desk", "t").say("clock")
    results = [event for event in events if isinstance(event, ToolCallResultEvent)]
    starts = [event for event in events if event.type == EventType.TOOL_CALL_START]
    assert [event.tool_call_id for event in results] == [event.tool_call_id for event in starts] and len(starts) == 1
    assert starts[0].tool_call_name == "sleep"


def test_a_failed_turn(server, token):
    thread = Thread(server, token, "Desk", "t")
    error = thread.say("fail")[-1]
    assert isinstance(error, RunErrorEvent) and error.code == "Arithmetic", error
    assert thread.say("on")[-1].outcome.type == "success"
