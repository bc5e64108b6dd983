"""Programs and runs as HTML, for notebooks."""
from __future__ import annotations

import base64
import html
import json
from typing import TYPE_CHECKING, Any

from ._errors import Error

if TYPE_CHECKING:
    from ._program import Program
    from ._run import Prompt, Run

_TEXT_MAX = 4_000
_PROMPTS_MAX = 50
_COLOURS = {"returned": "#1a7f37", "ready": "#1a7f37", "running": "#0969da", "asks": "#9a6700"}
_FAILED = "#cf222e"
_BOX = "border:1px solid #8884;border-radius:6px;padding:.5em .8em;margin:.3em 0;max-width:60em"
_PRE = "white-space:pre-wrap;margin:.2em 0;font-size:.92em"


def _escape(text: Any) -> str:
    shown = str(text)
    if len(shown) > _TEXT_MAX:
        shown = shown[:_TEXT_MAX] + f"… ({len(shown) - _TEXT_MAX} more characters)"
    return html.escape(shown)


def _pre(text: Any) -> str:
    return f'<pre style="{_PRE}">{_escape(text)}</pre>'


def _details(summary: str, content: str, is_open: bool = False) -> str:
    return f"<details{' open' if is_open else ''}><summary>{summary}</summary>{content}</details>"


def _state(state: str) -> str:
    return f'<b style="color:{_COLOURS.get(state, _FAILED)}">{state}</b>'


def _prompt(prompt: Prompt) -> str:
    parts = [f"<div><code>[{_escape(message.role)}]</code>{_pre(message.text)}</div>" for message in prompt.messages]
    if prompt.answer is not None:
        parts.append(f"<div><code>[answer]</code>{_pre(prompt.answer)}</div>")
    elif prompt.error is not None:
        parts.append(f'<div style="color:{_FAILED}"><code>[error]</code>{_pre(prompt.error)}</div>')
    repair = f", repair {prompt.attempt}" if prompt.attempt else ""
    tokens = prompt.tokens.get("prompt", 0)
    cost = f" · {tokens} + {prompt.tokens.get('generated', 0)} tokens" if tokens else ""
    summary = f"<code>{_escape(prompt.function)}</code> at {_escape(prompt.place)}{repair}{cost}"
    return _details(summary, f'<div style="margin-left:1.2em">{"".join(parts)}</div>')


def _graph(program: Program, visited: list[str]) -> str:
    picture = program.graph()
    if not picture:
        return ""
    # An image, because the styles of an element would apply to the whole page.
    selectors = ",".join(f"[data-block={json.dumps(path)}] rect" for path in visited)
    if selectors:
        picture = picture.replace("</style>", f"{selectors}{{stroke:#1a7f37;stroke-width:3}}</style>", 1)
    data = base64.b64encode(picture.encode()).decode()
    summary = "graph, with the blocks that were entered" if selectors else "graph"
    return _details(summary, f'<img alt="the graph of the agents" src="data:image/svg+xml;base64,{data}">')


def _end(run: Run[Any], state: str) -> str:
    if state == "asks":
        waits = "".join(f"<li><code>{_escape(wait.name)}</code> {_escape(wait.question)}</li>" for wait in run.waits())
        return f"<div>It waits for answers:<ul>{waits}</ul></div>"
    if state == "running":
        return ""
    try:
        value = run._result(state)
    except Error as error:
        return "" if error.kind == "Conflict" else f'<div style="color:{_FAILED}">{_pre(error)}</div>'
    return "" if value is None else _pre(value if isinstance(value, str) else repr(value))


def html_of_run(run: Run[Any]) -> str:
    """The run's state and value, what its models were sent, and the graph of its agents."""
    state = run.state
    run.take_events()
    name = f" <code>{_escape(run.name)}</code>" if run.name else ""
    parts = [f"<div>run of <code>{_escape(run.title)}</code>{name}: {_state(state)}</div>", _end(run, state)]
    prompts = run.prompts()
    if prompts:
        shown = prompts[-_PROMPTS_MAX:]
        more = f"<div>({len(prompts) - len(shown)} earlier ones)</div>" if len(shown) < len(prompts) else ""
        parts.append(_details(f"{len(prompts)} prompt{'s' if len(prompts) > 1 else ''}", more + "".join(map(_prompt, shown))))
    if run.program is not None and (run.blocks or run.title in run.program.agents):
        parts.append(_graph(run.program, run.blocks))
    return f'<div style="{_BOX}">{"".join(parts)}</div>'


def html_of_program(program: Program) -> str:
    """The functions and agents of a program, and the graph of its agents."""
    rows = []
    for function in program.functions.values():
        rows.append((f"{function.__name__}{function.__signature__}", function.__doc__ or ""))
    for agent in program.agents.values():
        rows.append((f"agent {agent.__name__}", agent.__doc__ or ""))
    items = "".join(f"<li><code>{_escape(signature)}</code> {_escape(text)}</li>" for signature, text in rows)
    return (f'<div style="{_BOX}"><div>program <b>{_escape(program.types.module)}</b></div>'
            f"<ul>{items}</ul>{_graph(program, [])}</div>")
