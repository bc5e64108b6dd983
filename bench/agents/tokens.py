"""Computes how many tokens a scripted exchange would have had, with the embedded model's template and vocabulary, by asking its server."""
import json

from tools_by_schema import to_schema


class TokenCounter:
    def __init__(self, server):
        self.server = server
        self.known = {}

    def post(self, path, body):
        with self.server.open(path, json.dumps(body).encode()) as reply:
            return json.load(reply)

    def tokens(self, text):
        if text not in self.known:
            self.known[text] = len(self.post("/tokenize", {"content": text, "parse_special": True})["tokens"])
        return self.known[text]

    def prompt(self, request):
        return self.post("/apply-template", {"messages": to_schema(request)["messages"]})["prompt"]

    def count(self, counts):
        for request, message in counts.exchanges:
            counts.prompt_tokens += self.tokens(self.prompt(request))
            calls = [call["function"] for call in message.get("tool_calls") or []]
            said = message.get("content") or "\n".join(f'{{"name": "{call["name"]}", "arguments": {call["arguments"]}}}' for call in calls)
            counts.completion_tokens += self.tokens(said + "<|im_end|>")
