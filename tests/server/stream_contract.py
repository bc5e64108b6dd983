"""Events as a stream: by number, across a crash of the server, with slow readers."""
import json
import time

from server_process import Server, Stream, events_of


def read(stream):
    """The events until the end of the stream, by number."""
    return [(number, json.loads(data)) for number, data in stream]


def test_a_stream_ends_with_the_run(work):
    with Server(work) as server:
        run = server.begin({"fn": "steps", "args": {"count": 20}})
        events = read(events_of(server, run))
        assert [number for number, _ in events] == [event["number"] for _, event in events]
        assert [event for _, event in events] == server.events(run)
        assert events[0][1]["type"] == "prompt_started" and events[-1][1]["type"] == "turn_end"
        last = events[-1][0]
        assert server.get(f"/v1/runs/{run}/events", Last_Event_ID=str(last)).status == 204
        assert [event["number"] for event in server.events(run, after=last - 2)] == [last - 1, last]
        assert server.get(f"/v1/runs/{run}/events?after={last + 1}").status == 422
        assert server.get(f"/v1/runs/{run}/events?after=x").status == 422
        assert server.get(f"/v1/runs/{run}/events", Last_Event_ID="x").status == 422


def test_no_event_is_lost_or_repeated_after_a_kill(work):
    with Server(work) as server:
        run = server.begin({"fn": "steps", "args": {"count": 150}})
        seen = []
        for stop_at in (7, 60, 130):
            stream = events_of(server, run, after=0, last=seen[-1] if seen else None)
            for number, _ in stream:
                seen.append(number)
                if len(seen) == stop_at:
                    break
            server.kill()
            stream.close()
            server.start()
        for number, _ in events_of(server, run, last=seen[-1]):
            seen.append(number)
        events = server.events(run)
        assert seen == [event["number"] for event in events], (len(seen), len(events))
        assert events[-1]["type"] == "turn_end" and events[-1]["value"] == 150
        calls = [event["call"] for event in events if event["type"] == "tool_call"]
        results = [event["call"] for event in events if event["type"] == "tool_result"]
        assert calls == results and len(set(calls)) == 150, "each effect was recorded once"


def test_a_late_reader_gets_everything(work):
    with Server(work) as server:
        run = server.begin({"fn": "clock", "args": {"count": 2000}})
        server.wait_for(run, "done")
        numbers = [number for number, _ in events_of(server, run)]
        assert numbers == list(range(1, 4003)), (len(numbers), numbers[:3], numbers[-3:])


def test_only_a_slow_reader_is_disconnected(work):
    with Server(work, "--limit", "write_seconds=4", "--limit", "queue_bytes=65536") as server:
        run = server.begin({"agent": "Counter"})
        busy = server.begin({"fn": "clock", "args": {"count": 30000}})
        slow = Stream(server, "GET", f"/v1/runs/{busy}/events", receive_bytes=4096)
        numbers = [number for number, _ in events_of(server, busy)]
        assert numbers == list(range(1, 60003)), len(numbers)
        deadline = time.monotonic() + 30
        while server.metric("event_readers_cut_total") == 0 and time.monotonic() < deadline:
            time.sleep(0.05)
        assert server.metric("event_readers_cut_total") == 1
        read_before_cut = [number for number, _ in slow]
        assert read_before_cut == list(range(1, len(read_before_cut) + 1)) and len(read_before_cut) < 60002
        assert server.post(f"/v1/runs/{run}/prompt", {"input": "still here"}).status == 202


def test_a_reader_that_disconnects_is_noticed(work):
    with Server(work) as server:
        run = server.begin({"agent": "Counter", "input": "hi"})
        stream = events_of(server, run)
        assert next(iter(stream))[0] == 2
        assert server.metric("event_readers") == 1
        stream.connection.close()
        stream.response.close()
        stream.close()
        deadline = time.monotonic() + 10
        while server.metric("event_readers") > 0 and time.monotonic() < deadline:
            time.sleep(0.02)
        assert server.metric("event_readers") == 0


def test_a_list_links_to_its_rest(work):
    with Server(work, "--limit", "queue_bytes=3000") as server:
        run = server.begin({"fn": "clock", "args": {"count": 50}})
        server.wait_for(run, "done")
        expected = [number for number, _ in events_of(server, run)]
        for query, most in (("", None), ("&limit=7", 7)):
            path, numbers, pages = f"/v1/runs/{run}/events?after=0", [], 0
            while path:
                reply = server.get(path + query, Accept="application/json")
                assert reply.status == 200 and 0 < len(reply.json) <= (most or len(expected)), reply.body
                numbers += [event["number"] for event in reply.json]
                pages += 1
                link = reply.headers["Link"]
                assert link is None or link == f'</v1/runs/{run}/events?after={numbers[-1]}>; rel="next"', link
                path = link and link[1:link.index(">")]
            assert numbers == expected and pages > 3, (numbers, pages)
