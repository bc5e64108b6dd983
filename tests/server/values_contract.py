"""What the server says about a value has one form: the one that the served schemas describe and that arguments have."""
import json
import random

from server_process import Server, events_of

try:
    import jsonschema
except ImportError:
    jsonschema = None  # without it, values are not checked against the schemas

INTEGER_MAX = (1 << 63) - 1024
"""The largest number that the schemas allow."""


class Types:
    """Random types, with random values of each."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.declared = []

    def one_of(self, *options):
        return lambda: self.random.choice(options)

    def make(self, depth):
        """The type's text, and a function that returns the JSON of a value."""
        simple = [self.boolean, self.integer, self.small, self.number, self.text, self.limited, self.words, self.numbers]
        composed = [self.list, self.map, self.option, self.tuple, self.struct, self.enum]
        return self.random.choice(composed if depth > 0 and self.random.random() < 0.8 else simple)(depth - 1)

    def boolean(self, _):
        return "Boolean", self.one_of(True, False)

    def integer(self, _):
        return "i64", self.one_of(0, -5, 1 << 53, (1 << 53) + 1, -(1 << 60) - 1, INTEGER_MAX, -INTEGER_MAX)

    def small(self, _):
        return "i32", self.one_of(0, 7, -(1 << 31), (1 << 31) - 1)

    def number(self, _):
        return "f64", self.one_of(0.0, 3.0, -0.1, 1e18, 5e-324, 1 / 3)

    def text(self, _):
        return "String", self.one_of("", "5", "a \"b\"\n", "Zürich", "[]", "{\"some\": 1}", "[secret]")

    def limited(self, _):
        return "i64 in 1..=30", self.one_of(1, 12, 30)

    def words(self, _):
        return self.declare("type", ' = "low" | "high"'), self.one_of("low", "high")

    def numbers(self, _):
        return self.declare("type", " = 1 | 2 | 3"), self.one_of(1, 2, 3)

    def list(self, depth):
        item, value = self.make(depth)
        return f"List<{item}>", lambda: [value() for _ in range(self.random.randrange(4))]

    def map(self, depth):
        item, value = self.make(depth)
        names = ("", "a", "left_out", "some", "ok", "ä b")
        return f"Map<{item}>", lambda: {name: value() for name in self.random.sample(names, self.random.randrange(4))}

    def option(self, depth):
        item, value = self.make(depth)
        while item.endswith("?"):
            item, value = self.make(depth)
        item = f"({item})" if " in " in item else item
        return f"{item}?", lambda: value() if self.random.random() < 0.7 else None

    def tuple(self, depth):
        items = [self.make(depth) for _ in range(self.random.randrange(2, 4))]
        return f"({', '.join(item for item, _ in items)})", lambda: [value() for _, value in items]

    def struct(self, depth):
        names = self.random.sample(("zeta", "alpha", "left_out", "some", "hash"), self.random.randrange(1, 4))
        fields = [(name, *self.make(depth)) for name in names]
        name = self.declare("struct", f" {{ {', '.join(f'{name}: {item}' for name, item, _ in fields)} }}")
        return name, lambda: {name: value() for name, _, value in fields}

    def enum(self, depth):
        cases = [("Nothing", [])] + [(f"Case{at}", [self.make(depth) for _ in range(self.random.randrange(1, 3))]) for at in range(2)]
        shown = [name + (f"({', '.join(item for item, _ in items)})" if items else "") for name, items in cases]
        name = self.declare("enum", f" {{ {', '.join(shown)} }}")

        def make():
            case, items = self.random.choice(cases)
            values = [value() for _, value in items]
            return {case: values[0] if len(values) == 1 else values} if values else case
        return name, make

    def declare(self, kind, text):
        name = f"Type{len(self.declared)}"
        self.declared.append(f"{kind} {name}{text}")
        return name


SAYING = '''\
fn same{0}(value: {1}) -> {1} {{ value }}

fn asked{0}() -> {1} {{ ask<{1}>("Which?") }}

fn wrapped{0}(value: {1}) -> Result<{1}> {{ Ok(value) }}

agent Keeper{0} {{
    state {{ kept: List<{1}> = [] }}
    fn turn(ctx: Context, input: {1}) -> {1} {{
        state.kept.push(input)
        input
    }}
}}

agent Caller{0} {{
    fn turn(ctx: Context, input: {1}) -> {1} {{ Keeper{0}::run(input) }}
}}
'''


def fields_of(events, *names):
    """The fields of the events, as `type.field`: the newest of each."""
    return {f"{event['type']}.{name}": event[name] for event in events for name in names if name in event}


def read_from_everywhere(server, run):
    """The events of a run, which are the same for a reader that begins at any of them, and in a stream."""
    events = server.events(run)
    for after in range(events[-1]["number"]):
        found = server.events(run, after)
        assert found == [event for event in events if event["number"] > after], (after, found, events)
    return events


def check_type(server, at, value, schema):
    def send_back(said):
        """What was said is what the schema describes, and an argument."""
        if jsonschema:
            jsonschema.Draft202012Validator(schema).validate(said)
        assert said == value and json.dumps(said) == json.dumps(value), (said, value)
        return said

    run = server.begin({"fn": f"same{at}", "args": {"value": value}})
    server.wait_for(run, "done")
    said = fields_of(read_from_everywhere(server, run), "input", "value")
    send_back(said["prompt_started.input"][0])
    again = server.begin({"fn": f"same{at}", "args": {"value": send_back(said["turn_end.value"])}})
    assert send_back(server.wait_for(again, "done")["end"]["value"]) == value

    run = server.begin({"fn": f"asked{at}", "args": {}})
    wait = server.wait_for(run, "waiting")["waits"][0]
    if jsonschema:
        jsonschema.Draft202012Validator(wait["schema"]).validate(value)
    assert server.post(f"/v1/runs/{run}/resume", {"wait": wait["wait"], "input": said["turn_end.value"]}).status == 202
    server.wait_for(run, "done")
    said = fields_of(read_from_everywhere(server, run), "input", "value")
    send_back(said["resume_with_input.input"])
    send_back(said["turn_end.value"])

    run = server.begin({"fn": f"wrapped{at}", "args": {"value": value}})
    assert send_back(server.wait_for(run, "done")["end"]["value"]["Ok"]) == value
    assert server.events(run)[-1]["value"] == {"Ok": value}

    if value is None:
        return  # a conversation without an input waits for one
    run = server.begin({"agent": f"Keeper{at}", "input": value})
    server.wait_for(run, "idle")
    said = fields_of(read_from_everywhere(server, run), "input", "value", "entries", "state")
    assert said["prompt_started.input"] == value, "as it was sent"
    send_back(said["turn_end.value"])
    assert said["state_changed.entries"] == said["turn_end.state"] == {"kept": [value]}, said

    run = server.begin({"agent": f"Caller{at}", "input": value})
    server.wait_for(run, "idle")
    said = fields_of(server.events(run), "input", "value")
    for name in ("agent_call.input", "agent_result.value", "turn_end.value"):
        send_back(said[name])


def test_what_is_said_can_be_sent_back(work):
    for seed in range(3):
        types = Types(seed)
        made = [types.make(depth) for depth in (0, 1, 1, 2, 2, 3)]
        parts = types.declared + [SAYING.format(at, text) for at, (text, _) in enumerate(made)]
        folder = work / str(seed)
        folder.mkdir()
        with Server(folder, program="\n".join(parts)) as server:
            agents = {agent["name"]: agent for agent in server.get("/v1/agents").json["agents"]}
            for at, (_, make) in enumerate(made):
                for _ in range(2):
                    check_type(server, at, make(), agents[f"same{at}"]["output"])


def test_the_schemas_have_all_numbers(work):
    with Server(work, program="fn whole(value: i64) -> i64 { value }\nfn real(value: f64) -> f64 { value }\n") as server:
        agents = {agent["name"]: agent for agent in server.get("/v1/agents").json["agents"]}
        for name, value in (("whole", (1 << 63) - 1), ("whole", -(1 << 63)), ("real", 1e300), ("real", -5e-324), ("real", -0.0)):
            run = server.begin({"fn": name, "args": {"value": value}})
            said = server.wait_for(run, "done")["end"]["value"]
            assert json.dumps(said) == json.dumps(value), (said, value)
            if jsonschema:
                jsonschema.Draft202012Validator(agents[name]["output"]).validate(said)
                jsonschema.Draft202012Validator(agents[name]["input"]).validate({"value": said})


GENERATING = '''\
struct Stay { nights: i64, city: String }

fn stay(ctx: Context) -> Stay { "Where?"! }

fn counts(ctx: Context) -> Map<i64> { "How many?"! }

fn add(number: i64, counts: Map<i64>) -> i64 { number }

fn twice(stay: Stay) -> i64 { stay.nights * 2 }

fn filled(ctx: Context) -> i64 {
    "Which?"!
    add(_, _)
}

fn chosen(ctx: Context) -> i64 {
    "Which?"!
    select {
        add(_, _) as sum => sum
        twice(_) as doubled => doubled
    }
}

fn several() -> (i64, String) {
    sleep(1)
    let answers = parallel {
        number = ask<i64>("Number?"),
        text = ask<String>("Text?"),
    }
    (answers.number, answers.text)
}
'''
GENERATED = '''\
stay => {"nights": 9007199254740993, "city": "Oslo"}
counts => {"b": 2, "a": 9007199254740993}
add => {"number": 5, "counts": {"a": 1}}
select => {"call": {"function": "twice", "arguments": {"stay": {"nights": 3, "city": "5"}}}}
'''


def test_requests_and_their_outcomes(work):
    with Server(work, program=GENERATING, script=GENERATED) as server:
        for name, value in (("stay", {"nights": 9007199254740993, "city": "Oslo"}), ("counts", {"b": 2, "a": 9007199254740993}),
                            ("filled", [5, {"a": 1}]), ("chosen", [{"nights": 3, "city": "5"}])):
            run = server.begin({"fn": name, "args": {}})
            server.wait_for(run, "done", "failed")
            said = fields_of(read_from_everywhere(server, run), "value")
            assert said["generation_finished.value"] == value, (name, said)
            assert list(said["generation_finished.value"]) == list(value), "in the order of the program"
        run = server.begin({"fn": "several", "args": {}})
        waits = {wait["question"]: wait["wait"] for wait in server.wait_until_asked(run, "Text?")}
        assert server.post(f"/v1/runs/{run}/resume", {"wait": waits["Text?"], "input": "5"}).status == 202
        assert server.post(f"/v1/runs/{run}/resume", {"wait": waits["Number?"], "input": 5}).status == 202
        server.wait_for(run, "done")
        events = read_from_everywhere(server, run)
        answers = {event["wait"]: event["input"] for event in events if event["type"] == "resume_with_input"}
        assert answers == {waits["Text?"]: "5", waits["Number?"]: 5}, "one text fits both types"
        said = fields_of(events, "arguments", "value")
        assert said["tool_call.arguments"] == [1] and said["tool_result.value"] is None, said
        streamed = [json.loads(data) for _, data in events_of(server, run)]
        assert streamed == events, streamed


KEEPING = '''\
agent Keeper {{
    state {{ kept: Map<i64> = Map::new() }}
    fn turn(ctx: Context, input: String) -> {0} {{
        state.kept[input] = 5
        {1}
    }}
}}
'''


def test_each_record_has_the_types_of_its_program(work):
    with Server(work, program=KEEPING.format("Map<i64>", "state.kept")) as server:
        run = server.begin({"agent": "Keeper", "input": "a"})
        server.wait_for(run, "idle")
        server.stop()
    with Server(work, "--upgrade", program=KEEPING.format("List<(String, String)>", '[("a", "5")]')) as server:
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "b"}).status == 202
        ends = []
        while len(ends) < 2:
            events = server.events(run)
            ends = [event for event in events if event["type"] == "turn_end"]
        events = read_from_everywhere(server, run)
        assert [event["value"] for event in events if event["type"] == "turn_end"] == [{"a": 5}, [["a", "5"]]], events
        states = [event["state"] for event in events if "state" in event]
        assert states == [{"kept": {"a": 5}}, {"kept": {"a": 5}}, {"kept": {"a": 5, "b": 5}}], states
        server.stop()
    with Server(work, program="fn other() -> i64 { 1 }\n") as server:
        assert server.events(run) == events, "the store has the programs that are not served"
