"""What clients hear of trust: why calls that act are made, and what is refused; live, and when it is read later."""
import json

from server_process import Server, events_of

PROGRAM = '''\
trust person

extern fn read_inbox() -> String
extern fn send_mail(to: trusted String, body: String) -> String

fn desk(ctx: Context, mail: String) -> trusted "sales" | "support" { mail! }

agent Clerk {
    fn turn(ctx: Context, input: String) -> String {
        let mail = read_inbox()
        let refused = try send_mail(mail, input)
        send_mail(input, mail)
        send_mail(desk(Context::new(), mail), mail)
        send_mail(endorse(mail, "a test"), mail)
        match refused {
            Err(f) => f.message
            Ok(sent) => sent
        }
    }
}
'''
TOOLS = """
def read_inbox(): return "eve"
def send_mail(to: str, body: str): return "sent"
"""


def test_calls_and_refusals(work):
    (work / "tools.py").write_text(TOOLS)
    with Server(work, "--extern", work / "tools.py", program=PROGRAM, script='desk => {"value": "sales"}\n') as server:
        run = server.begin({"agent": "Clerk", "input": "ann"})
        server.wait_for(run, "idle")
        events = server.events(run)
        calls = [(event["arguments"][0], event["allowed"]) for event in events if event["type"] == "tool_call" and event["tool"] == "send_mail"]
        assert calls == [("ann", ["trusted"]), ("sales", ["narrow"]), ("eve", ["endorsed"])], calls
        (refused,) = [event for event in events if event["type"] == "flow_refused"]
        assert refused["function"] == "send_mail" and refused["what"] == "`to` of `send_mail`", refused
        assert refused["sources"] == ["extern read_inbox"] and refused["place"].startswith("program.tn:11:"), refused
        assert (refused["agent"], refused["depth"]) == ("Clerk", 0) and "times" not in refused, refused
        read = next(event for event in events if event["type"] == "tool_result")
        first = next(event for event in events if event["type"] == "tool_call" and event["tool"] == "send_mail")
        assert read["number"] < refused["number"] < first["number"], events
        stream = events_of(server, run)
        streamed = next(json.loads(data) for _, data in stream if '"flow_refused"' in data)
        stream.close()
        assert streamed == refused, streamed
