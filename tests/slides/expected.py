"""The requests of each program of the slides, in order, and the answers of the scripted model.

`printed` prompts are on the slides; the others follow from their rules: the visible entries in order, one per line, and
nothing else. The format of a typed answer is a separate message, from this project's prompt templates (prompts/default).
"""
TYPED_BOOLEAN = 'Answer with JSON alone, of this form:\n{"value": true or false}'


class Completion:
    """The model completes a function: only the context and, in the default style, a format note for typed answers."""

    def __init__(self, function, context, format_note=None, printed=False):
        self.function = function
        self.context = context
        self.format_note = format_note
        self.is_typed = format_note is not None
        self.is_printed = printed

    def messages(self, style):
        all_messages = [("user", self.context)]
        if self.format_note is not None and style == "default":
            all_messages.append(("user", self.format_note))
        return all_messages


class Fill:
    """The model supplies missing arguments: the context, and the request in a separate message."""

    is_typed = True
    is_printed = False

    def __init__(self, function, signature, missing, outline, context):
        self.function = function
        self.context = context
        self.instructions = (f"Give the missing arguments of this call, based on the context above:\n{signature}\n"
                        f"Missing: {missing}\nAnswer with JSON alone, of this form:\n{outline}")

    def messages(self, style):
        return [("user", self.context), ("user", self.instructions)]


class Select:
    """The model chooses: the context, a blank line, and one line per clause, in the default style with its signature."""

    is_typed = True
    function = "select"

    def __init__(self, context, clauses, format_note, printed=False):
        self.context = context
        self.clauses = clauses
        self.format_note = format_note
        self.is_printed = printed

    def messages(self, style):
        lines = [self.context, "", "Choose tool and provide parameters:"]
        for binding, signature in self.clauses:
            line = f"- Execute function and store result as '{binding}'"
            lines.append(line if style == "slides" else f"{line}: {signature}")
        all_messages = [("user", "\n".join(lines))]
        if style == "default":
            all_messages.append(("user", self.format_note))
        return all_messages


CODE_ANALYSIS = ("Division by zero error possible. Function lacks input validation and error handling for b=0 case.")
CALCULATOR_FORM = (
    'Answer with JSON alone, of this form:\n'
    '{"call": {"function": "add", "arguments": {"x": integer, "y": integer}}}\n'
    'or {"call": {"function": "subtract", "arguments": {"x": integer, "y": integer}}}')
CALCULATOR_CHOICE = Select(
    "You are a calculator. Use the tools provided.\nCalculate 2 - 5",
    [("sum", "add(x: i32, y: i32) -> i32"), ("diff", "subtract(x: i32, y: i32) -> i32")], CALCULATOR_FORM, printed=True)
CALCULATOR_ARGUMENTS = ["--fn", "calculator_agent", "--arg", "request=Calculate 2 - 5"]
CHOOSE_SUBTRACT = 'select => {"call": {"function": "subtract", "arguments": {"x": 2, "y": 5}}}'
CHOOSE_ADD = 'select => {"call": {"function": "add", "arguments": {"x": 2, "y": 5}}}'

PROGRAMS = [
    {
        "file": "worked_example.tn", "case": "two calls", "arguments": [], "output": "",
        "script": f'analyze_code => "{CODE_ANALYSIS}"\nsuggest_fix => "Check b first."',
        "prompts": [
            Completion("analyze_code", "You are a code analysis expert\nAnalyze the following code for potential bugs\n"
                       "Focus on edge cases and error handling\nfn div(a, b): return a / b", printed=True),
            Completion("suggest_fix", "You are a code analysis expert\nGiven this analysis, suggest a fix\n" + CODE_ANALYSIS,
                       printed=True),
        ],
    },
    {
        "file": "autopopulate.tn", "case": "a missing argument", "arguments": [], "output": "",
        "script": '* when "Missing: code" => {"code": "fn div(a, b) = a/b"}\nanalyze_code => "b may be 0"',
        "prompts": [
            Fill("analyze_code", "analyze_code(code: String) -> Analysis", "code", '{"code": string}',
                 "You are a code analysis expert\nThe code to analyze: fn div(a, b) = a/b"),
            Completion("analyze_code", "You are a code analysis expert\nThe code to analyze: fn div(a, b) = a/b\n"
                       "Analyze the following code for potential bugs\nFocus on edge cases and error handling\n"
                       "fn div(a, b) = a/b"),
        ],
    },
    {
        "file": "calculator.tn", "case": "subtract", "arguments": CALCULATOR_ARGUMENTS, "output": "-3\n",
        "script": CHOOSE_SUBTRACT, "prompts": [CALCULATOR_CHOICE],
    },
    {
        "file": "calculator.tn", "case": "add", "arguments": CALCULATOR_ARGUMENTS, "output": "7\n",
        "script": CHOOSE_ADD, "prompts": [CALCULATOR_CHOICE],
    },
    {
        "file": "calculator_transform.tn", "case": "subtract", "arguments": CALCULATOR_ARGUMENTS, "output": "-3\n",
        "script": CHOOSE_SUBTRACT, "prompts": [CALCULATOR_CHOICE],
    },
    {
        "file": "calculator_extern.tn", "case": "subtract", "arguments": CALCULATOR_ARGUMENTS, "output": "-3\n",
        "has_externs": True, "script": CHOOSE_SUBTRACT, "prompts": [CALCULATOR_CHOICE],
    },
    {
        "file": "if_basic.tn", "case": "ready", "arguments": [], "output": "", "script": 'is_ready => {"value": true}',
        "prompts": [Completion("is_ready", "System initialization starting\nIs the system ready?", TYPED_BOOLEAN)],
    },
    {
        "file": "if_scoping.tn", "case": "needs it", "arguments": [], "output": "",
        "script": 'needs_update => {"value": true}',
        "prompts": [Completion("needs_update", "Does the status need updating?", TYPED_BOOLEAN)],
    },
    {
        "file": "if_placeholders.tn", "case": "processed", "arguments": [], "output": "",
        "script": ('* when "Missing: data" and "Processing data" => {"data": "the second"}\n'
                   '* when "Missing: data" => {"data": "the first"}\nshould_process => {"value": true}'),
        "prompts": [
            Fill("should_process", "should_process(data: String) -> Boolean", "data", '{"data": string}',
                 "You are a data processor\nThe input data needs validation"),
            Completion("should_process", "You are a data processor\nThe input data needs validation\n"
                       "Determine if we should process: \nthe first", TYPED_BOOLEAN),
            Fill("process_data", "process_data(data: String)", "data", '{"data": string}',
                 "You are a data processor\nThe input data needs validation\nProcessing data"),
        ],
    },
    {
        "file": "if_placeholders.tn", "case": "not processed", "arguments": [], "output": "",
        "script": '* when "Missing: data" => {"data": "x"}\nshould_process => {"value": false}',
        "prompts": [
            Fill("should_process", "should_process(data: String) -> Boolean", "data", '{"data": string}',
                 "You are a data processor\nThe input data needs validation"),
            Completion("should_process", "You are a data processor\nThe input data needs validation\n"
                       "Determine if we should process: \nx", TYPED_BOOLEAN),
        ],
    },
    {"file": "while_basic.tn", "case": "no model", "arguments": [], "output": "", "script": "", "prompts": []},
    {
        "file": "while_placeholders.tn", "case": "one step", "arguments": [], "output": "",
        "script": ('task_complete => {"value": false}\ntask_complete => {"value": true}\n'
                   '* when "Missing: step" => {"step": "measure"}\ndo_work => "it is 4 m"'),
        "prompts": [
            Completion("task_complete", "You are solving a complex task\nWork through the problem step by step\n"
                       "Is the task complete given progress: \n\n?", TYPED_BOOLEAN),
            Fill("do_work", "do_work(step: String) -> String", "step", '{"step": string}',
                 "You are solving a complex task\nWork through the problem step by step\nWorking on next step"),
            Completion("do_work", "You are solving a complex task\nWork through the problem step by step\n"
                       "Working on next step\nPerforming step: \nmeasure"),
            Completion("task_complete", "You are solving a complex task\nWork through the problem step by step\n"
                       "Working on next step\nit is 4 m\nIs the task complete given progress: \nit is 4 m\n?", TYPED_BOOLEAN),
        ],
    },
    {
        "file": "control_flow_combined.tn", "case": "one step", "arguments": [], "output": "",
        "script": ('should_start => {"value": true}\nkeep_going => {"value": true}\nkeep_going => {"value": false}\n'
                   'process_step => "half done"'),
        "prompts": [
            Completion("should_start", "You are a task executor\nShould we start processing?", TYPED_BOOLEAN),
            Completion("keep_going", "You are a task executor\nStarting task\nShould we continue given status: \nstarted\n?",
                       TYPED_BOOLEAN),
            Completion("process_step", "You are a task executor\nStarting task\nProcessing step\n"
                       "Perform the next processing step"),
            Completion("keep_going", "You are a task executor\nStarting task\nProcessing step\nhalf done\n"
                       "Should we continue given status: \nhalf done\n?", TYPED_BOOLEAN),
        ],
    },
    {
        "file": "control_flow_combined.tn", "case": "not started", "arguments": [], "output": "",
        "script": 'should_start => {"value": false}',
        "prompts": [Completion("should_start", "You are a task executor\nShould we start processing?", TYPED_BOOLEAN)],
    },
    {
        "file": "sub_agents.tn", "case": "a context of its own", "output": "Owls hunt by ear.\n",
        "arguments": ["--fn", "research_agent", "--arg", "topic=owls"],
        "script": 'analysis_agent => "They see in the dark."\nresearch_agent => "Owls hunt by ear."',
        "prompts": [
            Completion("analysis_agent", "You are an expert analyst\nowls"),
            Completion("research_agent", "You are a research specialist\nowls\n"
                       "Combine your knowledge with this analysis:\nThey see in the dark."),
        ],
    },
]
