"""Tool calls for a model whose template does not support them: a system message lists the tools, and a JSON schema lets the answer be a call,
or text if the client leaves the choice.

The embedded model was never trained on tool calls. With the server's own forms it calls no tool, even if one is required (18 runs of
18). To give a client with native tool calls the same means as one that requests JSON by a schema, the proxy translates the one into the
other. Clients see ordinary tool calls.
"""
import json

INTRODUCTION = "You can call these tools:"
CALL_FORM = 'To call one, answer with JSON: {"name": …, "arguments": {…}}'
WORDS_FORM = 'To say something instead, answer with JSON: {"response": …}'


def closed(properties):
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def to_schema(request):
    """Returns an equivalent request without tools, or the same one if it has none."""
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
    """Writes the calls and results of earlier turns as text, which the model's template supports."""
    if message["role"] == "tool":
        return {"role": "user", "content": f"The tool's result: {message['content']}"}
    if message.get("tool_calls"):
        calls = [{"name": call["function"]["name"], "arguments": json.loads(call["function"]["arguments"])}
                 for call in message["tool_calls"]]
        return {"role": "assistant", "content": "\n".join(json.dumps(call) for call in calls)}
    return {"role": message["role"], "content": message.get("content") or ""}


def from_schema(request, reply):
    """Turns the server's reply to `to_schema(request)` into the reply to `request`. An answer that was cut off stays text."""
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
