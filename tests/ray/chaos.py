"""Runs that are disturbed, and what must hold for them afterwards."""
import asyncio
import collections
import os
import subprocess
import time
import urllib.request

import chaos_externs
import tenon

STEPS = 40
PROMPTS = ("one", "two", "three")
SECONDS_MAX = 90.0


class Client:
    """Starts one run, answers its questions and prompts it, and reads its events, over any number of gateways."""

    def __init__(self, scene, kind, number):
        self.kind = kind
        self.key = f"{scene}-{kind}-{number}"
        self.name = None
        self.value = None
        self.events = []
        self.is_decided = False  # a person had to say whether the once call was made
        self._asked = 0
        self._prompted = 0

    async def work(self, gateway, log):
        """Until the run has its value."""
        while self.value is None:
            try:
                await self._step(gateway, log)
            except tenon.Error as error:
                if error.kind not in ("Failed", "Conflict"):
                    raise
                await asyncio.sleep(0.1)  # the store or the owner cannot be reached now: the same request again, with its key

    async def _step(self, gateway, log):
        if self.name is None:
            arguments = {"busy": {"run": self.key, "steps": STEPS}, "order": {"run": self.key}, "Clerk": PROMPTS[0]}[self.kind]
            self.name = (await gateway.astart(self.kind, arguments, key=f"{self.key} start")).name
            self._prompted = 1
        run = gateway.run(self.name)
        async for event in run.events(after=self.events[-1].number if self.events else 0):
            if "number" in event.data:
                self.events.append(event)
        state = run.state
        if state == "asks":
            await self._answer(gateway, run, log)
        elif state == "ready" and self._prompted < len(PROMPTS):
            await gateway.aprompt(self.name, PROMPTS[self._prompted], key=f"{self.key} prompt {self._prompted}")
            self._prompted += 1
        elif state != "running":
            self.value = await run

    async def _answer(self, gateway, run, log):
        waits = run.waits()
        if not waits:
            return
        question = waits[0].question
        if question in ("First?", "Second?"):
            value = f"{question} {self.key}"
        else:
            self.is_decided = True
            was_paid = any(call.name == "pay" and call.run == self.key for call in log.calls())
            value = {"value": chaos_externs.result_of_pay(self.key)} if was_paid else {"retry": True}
        await gateway.aanswer(self.name, waits[0], value, key=f"{self.key} answer {self._asked} {waits[0].name}")
        self._asked += 1


Call = collections.namedtuple("Call", "time pid name run effect")


class Log:
    """The calls that are made, by all processes, from now on; or from `begin` on, a position in the file."""

    def __init__(self, path, begin=None):
        self.path = path
        path.touch()
        self.begin = path.stat().st_size if begin is None else begin

    def calls(self):
        found = []
        for line in self.path.read_bytes()[self.begin:].decode().splitlines():
            moment, pid, name, run, effect = line.split(" ")
            found.append(Call(float(moment), int(pid), name, run, effect))
        return found


def make_clients(scene, count):
    """Of each kind, with keys that no other scene has."""
    return [Client(scene, kind, number) for number in range(count) for kind in ("busy", "order", "Clerk")]


async def work_all(clients, gateway, log):
    await asyncio.wait_for(asyncio.gather(*(client.work(gateway, log) for client in clients)), SECONDS_MAX)


def undisturbed(program, clients, folder):
    """Value and hash of each run in a process of its own that nothing disturbs."""
    results = {}
    externs = {"work": chaos_externs.result_of_work, "pay": chaos_externs.result_of_pay}
    with tenon.load(program, externs=externs, store=folder / "undisturbed.db") as loaded:
        for client in clients:
            if client.kind == "Clerk":
                run = loaded.Clerk.start()
                for prompt in PROMPTS:
                    value = run.say(prompt)
            else:
                run = loaded.busy.start(client.key, STEPS) if client.kind == "busy" else loaded.order.start(client.key)
                while run.wait() == "asks":
                    wait = run.waits()[0]
                    run.answer(wait, f"{wait.question} {client.key}")
                value = run.result()
            results[client.key] = (value, loaded.engine.core.artifacts(run.name, "hash"))
    return results


def check(clients, gateway, log, program, store, folder):
    """What must hold after any disturbance."""
    expected = undisturbed(program, clients, folder)
    externs = {"work": chaos_externs.result_of_work, "pay": chaos_externs.result_of_pay}
    calls = collections.defaultdict(list)
    for call in log.calls():
        calls[call.effect].append(call)
    with tenon.load(program, externs=externs, store=store) as loaded:
        hashes = {client.key: loaded.engine.core.artifacts(client.name, "hash") for client in clients}
    for client in clients:
        value, hashed = expected[client.key]
        assert client.value == value, client.key
        assert client.is_decided or hashes[client.key] == hashed, f"{client.key} did something else"
        check_stream(client, gateway)
        check_effects(client, calls)
    payments = collections.Counter(call.run for call in log.calls() if call.name == "pay")
    assert all(count == 1 for count in payments.values()), payments
    assert len(payments) == sum(client.kind == "order" for client in clients)
    binary = os.environ.get("TENON")
    if binary:
        checked = subprocess.run([binary, "store", "check", "--store", store], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stdout + checked.stderr


def check_stream(client, gateway):
    """The client has seen every event once, in order."""
    numbers = [event.number for event in client.events]
    follow = gateway.follow_turn(client.name)
    stored = [event.number for event in follow if "number" in event.data]
    assert numbers == stored, f"{client.key} has seen {numbers}, the store has {stored}"


def check_effects(client, calls):
    """Nothing is performed again after its result was recorded."""
    begun = {event.data["call"]: event for event in client.events if event.type == "tool_call"}
    for event in client.events:
        if event.type != "tool_result":
            continue
        assert event.data["call"] in begun
        performed = [call for effect, made in calls.items() for call in made
                     if effect.startswith(f"{client.name}/") and effect.endswith(f"/{event.data['call']}")]
        for call in performed:
            assert call.time <= event.time / 1000 + 0.01, f"{client.key} has performed {event.data['call']} again"


def wait_until(condition, seconds=SECONDS_MAX):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


def exported(name, **tags):
    """The values of a metric that the nodes export and that has these tags."""
    return list(exported_series(name, **tags).values())


def exported_series(name, **tags):
    """The same with all tags of each value, among which is the process."""
    import ray

    values = {}
    for node in ray.nodes():
        if not node["Alive"]:
            continue
        address = f"http://{node['NodeManagerAddress']}:{node['MetricsExportPort']}/metrics"
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(address, timeout=10) as answer:
            for line in answer.read().decode().splitlines():
                if line.startswith(f"ray_{name}{{") and all(f'{tag}="{value}"' in line for tag, value in tags.items()):
                    series, _, value = line.rpartition(" ")
                    values[series] = float(value)
    return values
