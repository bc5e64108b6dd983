"""Tool calls for a model whose template knows none: the tools are told in a system message, and a JSON schema lets the answer be a
call, or words where the client leaves the choice.

The embedded model was never trained on tool calls. Left to the server's own forms of them it calls no tool at all, even when one is
required (18 runs of 18). So that a client with native tool calls has the same means as one that asks for JSON by a schema, the
proxy writes the one as the other. Clients see tool calls as they know them.
"""
import json

INTRODUCTION = "You can call these tools:"
CALL_FORM = 'To call one, answer with JSON: {"name": …, "arguments": {…}}'
WORDS_FORM = 'To say something instead, answer with JSON: {"response": …}'


def closed(properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def to_schema(request):
    """The request without tools that asks for the same. It is the same one if there are none."""
    request = dict(request)
    tools = [tool["function"] for tool in request.pop("tools", None) or []]
    choice = request.pop("tool_choice", None) or "auto"
    if not tools or choice == "none":
        return request
    messages = [as_text(message) for message in request["messages"]]
    lines = [INTRODUCTION]
    lines += [f"- {tool['name']}({', '.join(tool['parameters']['properties'])}): {tool['description']}" for tool in tools]
    lines += [CALL_FORM] + ([WORDS_FORM] if choice == "auto" else [])
    if messages[0]["role"] == "system":
        lines.insert(0, messages.pop(0)["content"])
    request["messages"] = [{"role": "system", "content": "\n".join(lines)}] + messages
    if isinstance(choice, dict):
        tools = [tool for tool in tools if tool["name"] == choice["function"]["name"]]
    forms = [closed({"name": {"const": tool["name"]}, "arguments": tool["parameters"]}) for tool in tools]
    if choice == "auto":
        forms.append(closed({"response": {"type": "string"}}))
    request["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "strict": True,
                                                                         "schema": {"anyOf": forms}}}
    return request


def as_text(message):
    """Calls and results of earlier turns, in words that the model's template can hold."""
    if message["role"] == "tool":
        return {"role": "user", "content": f"The tool's result: {message['content']}"}
    if message.get("tool_calls"):
        calls = [{"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
                 for call in message["tool_calls"]]
        return {"role": "assistant", "content": "\n".join(json.dumps(call) for call in calls)}
    return {"role": message["role"], "content": message.get("content") or ""}


def from_schema(request, reply):
    """The server's reply to `to_schema(request)`, as the reply to `request`. An answer that was cut off stays text."""
    if not request.get("tools"):
        return reply
    choice = reply["choices"][0]
    try:
        answer = json.loads(choice["message"]["content"])
    except ValueError:
        return reply
    if "response" in answer:
        choice["message"]["content"] = answer["response"]
    else:
        choice["message"] = {"role": "assistant", "content": None, "tool_calls": [
            {"id": reply["id"], "type": "function",
             "function": {"name": answer["name"], "arguments": json.dumps(answer["arguments"])}}]}
        choice["finish_reason"] = "tool_calls"
    return reply
