"""Hints: one mistake is one diagnostic, whose hint leads to a program without it."""
from check_output import diagnose, messages, single

MODULE = """type U = {}
struct S {{ a: i32 }}
enum E {{ A, B }}
fn u() -> U {{ {} }}
fn e() -> E {{ E::A }}
fn mk() -> S {{ S {{ a: 1 }} }}
"""
TWO = [("m1.tn", MODULE.format('"a" | "b"', '"a"')), ("m2.tn", MODULE.format('"c" | "d"', '"c"'))]


def test_types_of_the_same_name_have_their_modules(work):
    for body, words in (
            ("-> i32 { l(m2::u()) }\nfn l(u: m1::U) -> i32 { 1 }", ("expected `m1::U`, found `m2::U`", "convert with `m1::U(text)`")),
            ("-> Boolean { m1::e() == m2::e() }", ("cannot apply `==` to `m1::E` and `m2::E`",)),
            ("-> i32 { match m1::mk() { m2::S { a } => a } }", ("a pattern for `m2::S` cannot match a value of type `m1::S`",)),
            ("-> m1::S { return m2::mk() }", ("expected `m1::S`, found `m2::S`", "construct it with `m1::S { a: … }`")),
            ("-> i32 { m1::mk().b }", ("`m1::S` has no field `b`",)),
            ("-> i32 { m1::e().foo() }", ("`m1::E` has no method `foo`",)),
            ("-> i32 { match m1::e() { m1::E::A => 1 } }", ("`m1::E::B` not covered",)),
            ("-> m1::S { m1::S {} }", ("missing field `a` in `m1::S`",)),
            ('-> m1::U { "x" }', ('"x" is not a value of `m1::U`',)),
            ("-> i32 { m1::e() as i32 }", ("cannot cast `m1::E` to `i32`",)),
            ("-> List<m1::S> { [m2::mk()] }", ("expected `m1::S`, found `m2::S`",))):
        shown = messages(work, f"use m1\nuse m2\nfn main() {body}\n", TWO)
        assert all(word in shown for word in words), shown
    assert diagnose(work, "use m1\nfn main() -> i32 { match m1::mk() { m1::S { a } => a } }\n", TWO) == []
    assert "expected `i32`, found `S`" in messages(work, "use m1\nfn main() -> i32 { m1::mk() }\n", TWO)


def test_a_value_that_may_be_absent(work):
    for text in ('fn g(x: String?) -> String { "a" + x }', "fn g(x: i32?) -> i32 { x + 1 }", "fn g(x: i32?) -> i32 { -x }"):
        for word in ("may be `None`", "`??`", "`if let Some(x) = …`"):
            single(work, text, "E2138" if "-x" in text else "E2105", word)
    single(work, "fn g(x: (i32, String)?) -> i32 { x.2 }", "E2004", "`??`")
    single(work, "fn g(x: i32?) -> Boolean { x == 1 }", "E2105", "compare it with `Some(…)`")
    single(work, "fn g(x: i32?) -> i32 { return x }", "E2104", "`??`")
    single(work, "fn g(x: i32?) -> i64 { x as i64 }", "E2120", "`??`")
    single(work, "fn g(x: String?) -> i32 { x.len() }", "E2005", "use `?.len`")
    single(work, "fn g(x: String?) -> i32 { for c in x { } 1 }", "E2119", "`??`")
    single(work, "fn f() -> i32? { Some(None) }", "E2101", "`None` is a value of `Option<i32>`, not of `i32`")


def test_values_of_the_wrong_type_in_blocks(work):
    add = "fn add(a: i32) -> i32 { a }\n"
    for value, found in (('"x"', "String"), ("[1]", "List<i32>"), ("3", "i32")):
        text = f"{add}agent A {{\n    block talk: core_loop {{ tools: {value} }}\n}}\n"
        single(work, text, "E2101", "a set of functions is written `tools { NAME, NAME }`")
        shown = messages(work, text)
        assert f"main.tn:3:36: error[E2101]: mismatched types: expected `Tools`, found `{found}`" in shown, shown
    for value in ("i32", "S"):
        text = f"type S = String\nagent A {{\n    block talk: delegate {{ agent: {value} }}\n}}\n"
        single(work, text, "E2260", "write `agent: NAME`, where `agent NAME { … }` declares the agent")
        assert "main.tn:3:35: error[E2260]" in messages(work, text)


def test_lists_of_tools(work):
    add = "fn add(a: i32) -> i32 { a }\n"
    for text in ("agent A {{ block talk: core_loop {{ tools: {} }} }}", "fn f() -> Tools {{ {} }}", "fn f() -> Tools {{ tools {{ add }} + {} }}",
                 "agent A {{ block talk: core_loop {{ tools: tools {{ add }} + {} }} }}", "fn g(t: Tools) -> i32 {{ 1 }}\nfn f() -> i32 {{ g({}) }}"):
        for names in ("add", "nosuch", "add, nosuch"):
            meant = f"tools {{ {names} }}"
            single(work, add + text.format(f"[{names}]"), "E2101", f"a set of functions is written `{meant}`", meant)
        single(work, add + text.format("3"), "E2101", "a set of functions is written `tools { NAME, NAME }`")
        single(work, add + text.format("[nosuch()]"), "E2001", "")


TEXTS_OF_BLOCKS = (
    "core_loop {{ prompt: {} }}", "request {{ prompt: {} }}", "tool_call {{ call: look(_), prompt: {} }}",
    'route {{ prompt: {}\n to after: "x"\n else -> after }}\n block after: emit {{ text: "x" }}',
    "reflect {{ mode: retry, prompt: {} }}", 'reflect {{ mode: improve, prompt: "x", criteria: {} }}',
    "reflect {{ mode: synthesize, prompt: {} }}", "compress {{ prompt: {} }}", 'report {{ template: "x", name: {} }}')


def test_values_that_are_no_texts_in_blocks(work):
    declared = "struct S {{ a: i32 }}\nfn look(a: String) -> String {{ a }}\nagent A {{ state {{ maybe: String? = None }}\n    block x: {}\n}}\n"
    for block in TEXTS_OF_BLOCKS:
        column = len("    block x: " + block.split("{}")[0].format()) + 1
        for value, code, hint in (("3", "E2101", "write it as a text: `\"3\"`"), ("[1]", "E2101", ".to_string()"), ("S { a: 1 }", "E2101", ".to_string()"),
                                  ("state.maybe", "E2101", "`??`"), ("None", "E2101", "`None` is a value of"), ("look", "E2013", "call it: `look(…)`"),
                                  ("nosuch", "E2001", ""), ("[nosuch]", "E2001", ""), ("input.nosuch()", "E2005", ""), ("state.nosuch", "E2004", "")):
            text = declared.format(block.format(value))
            single(work, text, code, hint)
            place = column + (1 if value == "[nosuch]" else 6 if value in ("input.nosuch()", "state.nosuch") else 0)
            assert f"main.tn:4:{place}: error" in messages(work, text), (place, messages(work, text))
    for value in ('"x"', "input", "look(input)", 'state.maybe ?? "x"', 'if input == "" { "x" } else { "y" }'):
        for block in TEXTS_OF_BLOCKS:
            assert [one for one in diagnose(work, declared.format(block.format(value))) if one[0][0] == "E"] == []


GOOD = "agent Good { fn turn(ctx: Context, input: String) -> String { input } }\n"


def test_places_in_blocks_that_are_no_fields_or_agents(work):
    module = [("m.tn", "struct S { a: i32 }\nenum E { A }\ntype T = String\nfn f() -> i32 { 1 }\nextern fn g() -> i32\n" + GOOD)]
    for used, value in (("m::S", "S"), ("m", "m::S"), ("m", "m::E"), ("m", "m::E::A"), ("m", "m::T"), ("m", "m::f"), ("m", "m::g"), ("m", "m"),
                        ("m::f", "f"), ("m::g", "g"), ("m::E", "E::A")):
        for option in ("", ", handoff: true", ", into: state.t"):
            text = f"use {used}\nagent A {{ state {{ t: String = EMPTY }}\n    block talk: delegate {{ agent: {value}{option} }}\n}}\n"
            text = text.replace("EMPTY", '""')
            single(work, text, "E2260", "write `agent: NAME`, where `agent NAME { … }` declares the agent", others=module)
            assert "main.tn:3:35: error[E2260]" in messages(work, text, module), messages(work, text, module)
    single(work, "use m\nagent A { block talk: delegate { agent: m::Goood } }", "E2008", "did you mean `Good`?", "Good", module)
    single(work, "agent A { block talk: delegate { agent: Other } }", "E2001", "")
    state = "agent A { state { all: List<String> = []\n n: i32 = 0 }\n block x: "
    loop = 'for_each { item i: String in state.all\n block y: emit { text: i }\n gather: i\n into: state.al } }'
    single(work, state + loop, "E2004", "did you mean `all`?")
    single(work, state + "core_loop { read: [state.al] } }", "E2004", "did you mean `all`?")
    single(work, state + "core_loop { write: [state.other] } }", "E2004", "declare it in `state { … }`")
    single(work, state + 'report { template: "x", into: state.n } }', "E2101", "the block gives a `String`: name a field of that type")
    for text, place, found in (("block x: for_each { item i: String in state.ns\n block y: emit { text: i } }", 41, "i32"),
                               ("block x: delegate { agent: Good, message: 3, handoff: true }", 45, "i32")):
        text = GOOD + "agent A { state { ns: List<i32> = [] }\n  " + text + "\n}\n"
        single(work, text, "E2101", f"it has the type `{found}`: convert it, or declare that type")
        assert f"main.tn:3:{place}: error[E2101]" in messages(work, text), messages(work, text)
    single(work, GOOD + state + "delegate { agent: Good, into: state.n } }", "E2101", "the block gives a `String`: name a field of that type")
    single(work, "fn look(a: String) -> String { a }\nagent A { block x: tool_call { call: look(3) } }", "E2274", "write `_` for an argument")
    single(work, 'agent A { block x: emit { text: "x"\n -> z }\n block y: emit { text: "x" } }', "E2231", "")


def test_one_mistake_that_would_be_several(work):
    for text in ("fn f() -> i32 { (nosuch, 1) }", "fn f(a: i32) -> i32 { f([nosuch]) }", "fn f() -> i32 { let x: i32 = [nosuch]\n x }",
                 "fn f() -> i32 { return (nosuch, 1) }"):
        single(work, text, "E2001", "")
    single(work, 'fn f() -> String { "x"!\n "y"!\n }', "E2205", "add a parameter `ctx: Context`")
    module = [("m.tn", "struct S { a: i32 }\nenum E { A }\n" + GOOD)]
    for value, hint in (("m::S", "construct it with `m::S { a: … }`"), ("m::E", "`m::E::A`"), ("m::Good", "`m::Good::run(input)`"),
                        ("m", "it is a module: write `m::NAME` for one of its items")):
        single(work, f"use m\nfn f() -> i32 {{ {value} }}", "E2013", hint, others=module)


def test_numbers_are_widened(work):
    single(work, "fn f(x: i32, y: i64) -> Boolean { x < y }", "E2105", "convert the `i32` with `as i64`")
    single(work, "fn f(x: f64, y: i64) -> f64 { x * y }", "E2105", "convert the `i64` with `as f64`")
    single(work, "fn f() -> f64 { 1 + 2.5 }", "E2105", "write the number as `1.0`")
    single(work, "fn f() -> f64 { 1 }", "E2101", "write the number as `1.0`")
    single(work, "fn f(x: f64) -> i32 { x }", "E2101", "drops the fraction and fails at run time")
    single(work, "fn f(x: i64) -> i32 { return x }", "E2104", "`as i32`, which fails at run time if")


def test_names_that_are_no_values(work):
    declared = "enum E { A, B }\nstruct S { a: i32 }\n"
    single(work, declared + "fn f() -> i32 { E }", "E2013", "write one of its cases: `E::A`")
    single(work, declared + "fn f() -> i32 { S }", "E2013", "construct it with `S { a: … }`")
    single(work, "fn f() -> i32 { i32 }", "E2013", "it is the name of a type")
    single(work, "fn f() -> i32 { f }", "E2013", "call it: `f(…)`")
    single(work, declared + "fn f() -> E { E() }", "E2012", "write one of its cases: `E::A`")


def test_hints_are_not_misleading(work):
    single(work, "fn f() -> i32 { let m: Map<i32> = {}\n 1 }", "E2101", "`Map::new()`")
    single(work, "fn f() -> i32 { let m: List<i32> = {}\n 1 }", "E2101", "`[]`")
    found = diagnose(work, "fn f() -> List<i32> { [1].repeat(3) }")
    assert found == [("E2005", "", None)], found
    single(work, "fn f() -> i32 { catch x { 1 } }", "E1101", "`f() catch e { … }`")
    single(work, "fn f(x: null) -> i32 { 1 }", "E2003", "`None`")
    single(work, "fn f(x: any) -> i32 { 1 }", "E2003", "no type of all values")
    single(work, "fn main() -> i32 { 1; }", "E2107", "remove the `;`")
    single(work, "fn main() -> i32 { let x = { 1; }\n x }", "E2101", "")
    single(work, 'fn f() -> String { "{{ end }}" }', "E2001", "an `{{ end }}` without `{{ for … }}` or `{{ if … }}`")


def test_what_counts_some_of_the_items(work):
    single(work, "fn f(l: List<i32>) -> i32 { l.count(|x| x > 1) }", "E2005", "use `.filter(…).len()` instead")
    single(work, "fn f(l: List<i32>) -> i32 { l.count(1) }", "E2005", "use `.filter(…).len()` instead")
    single(work, 'fn f(s: String) -> i32 { s.count(",") }', "E2005", "use `.split(…).len() - 1` instead")
    single(work, "fn f(l: List<i32>) -> i32 { l.count() }", "E2005", "use `len` instead")


def test_names_that_the_standard_library_has_changed(work):
    single(work, "use std::react::{Manner}\nfn f() -> i32 { 1 }", "E2008", "did you mean `ReactOptions`?", "ReactOptions")
    head = "use std::react::{Memory, ReactOptions, Thinking}\n"
    for turns, thinking, memory, code, hint in (
            ("turns", "Never", "All", "E2004", "max_turns"), ("max_turns", "AtFirst", "All", "E2006", "FirstTurn"),
            ("max_turns", "EachTurn", "All", "E2006", "EveryTurn"), ("max_turns", "Never", "Whole", "E2006", "All"),
            ("max_turns", "Never", "Newest(1)", "E2006", "Recent")):
        made = f"ReactOptions {{ {turns}: 3, thinking: Thinking::{thinking}, memory: Memory::{memory} }}"
        single(work, f"{head}fn f() -> ReactOptions {{ {made} }}", code, f"did you mean `{hint}`?")
    single(work, head + "fn f(o: ReactOptions) -> i32 { o.turns }", "E2004", "did you mean `max_turns`?")
    case = "match m {\n Memory::Whole => 1\n _ => 2\n }"
    single(work, head + f"fn f(m: Memory) -> i32 {{ {case} }}", "E2006", "did you mean `All`?")


def test_characters_of_other_languages(work):
    for text, hint in (("fn f() -> String { 'abc' }", "double quotes"), ("fn f() -> String { `abc` }", "double quotes"),
                       ("fn f() -> String { 'a' }", "length 1"), ("# comment\nfn f() -> i32 { 1 }", "comments start with `//`"),
                       ("fn f() -> i32 {\n    # a comment here\n    1\n}", "comments start with `//`"),
                       ("#[derive(Debug)]\nstruct S { a: i32 }", "no attributes"),
                       ("@decorator(1)\nfn f() -> i32 { 1 }", "no decorators"), ("fn f() -> i32 { 2 ^ 3 }", "`n.pow(2)`"),
                       ("fn f<'a>(x: i32) -> i32 { x }", "double quotes")):
        single(work, text + "\n", "E1003", hint)


def test_more_words_of_other_languages(work):
    for condition in ("!(n == 1)", "(n == 1)", "true", "n == 1"):
        for word in ("elif", "elseif"):
            single(work, f"fn f(n: i32) -> i32 {{\n    if n == 0 {{ 1 }} {word} {condition} {{ 2 }} else {{ 3 }}\n}}\n", "E1101",
                   "`else if`", "else if")
    for name in ("null", "nil", "undefined"):
        found = diagnose(work, f"fn f(x: i32?) -> i32 {{ match x {{ {name} => 1\n _ => 2 }} }}\n")
        assert found[0] == ("E2134", "write `None` to match that value, or rename the variable", "None"), found
    single(work, "fn f() -> Boolean { True }", "E2001", "write `true`", "true")
    single(work, "struct S { a: i32 }\nimpl S { fn g(self: S) -> i32 { this.a } }", "E2001", "write `self`", "self")
    for statement in ('throw "x"', 'throw Error("x")', 'raise ValueError("x")'):
        single(work, f"fn f() -> i32 {{ {statement} }}", "E1101", '`fail("…")`')
    main = "fn f() -> i32 { 1 }\n"
    for line, hint in (("async ", "no asynchronous functions"), ("pub ", "can use all declarations"),
                       ("export ", "can use all declarations"), ("static x = 1\n", "no global variables"),
                       ("let x = 1\n", "no global variables")):
        single(work, line + main, "E1101", hint)
    single(work, "fn f() -> i32 { let x = await g()\n x }", "E1106", "a call waits for its result")


def test_syntax_of_other_languages(work):
    single(work, "fn f() -> Boolean { 1 === 1 }", "E1101", "use `==` to compare", "")
    single(work, "fn f() -> Boolean { 1 !== 1 }", "E1101", "use `!=` to compare", "")
    single(work, "fn f() -> i32 { let i = 1\n i++\n i }", "E1101", "`x += 1`")
    single(work, "fn f() -> i32 { let i = 1\n i--\n i }", "E1101", "`x -= 1`")
    single(work, "fn f() -> i32 { 2 ** 3 }", "E1101", "`n.pow(2)`")
    for closure in ("x => x + 1", "(x) => x + 1"):
        single(work, f"fn f(xs: List<i32>) -> List<i32> {{ xs.map({closure}) }}", "E1101", "write a closure as `|x| x + 1`")
    single(work, "fn f(xs: i32[]) -> i32 { 1 }", "E1101", "`List<i32>`")
    single(work, "fn f(x: i32 = 3) -> i32 { x }", "E1101", "no default value")
    single(work, "fn main(): i32 { 1 }", "E1101", "follows `->`", " ->")


def test_one_mistake_is_one_error(work):
    single(work, 'fn f(a: i32, b: String) -> i32 { 1 }\nfn g() -> i32 { f("x", 2, 3) }', "E2102", "`f(a: i32, b: String)`")
    single(work, "fn act(ctx: Context, n: i32, mail: String) -> i32 { 1 }\n"
           "fn g(ctx: Context, mail: String) -> i32 { act(_, mail) }", "E2102", "")
    single(work, "fn f() -> i32 { 1 as String }", "E2120", "")
    single(work, 'fn f() -> i32 { -"x" }', "E2138", "")
    single(work, "fn f() -> i32 { 3 = 4 }", "E1105", "")
    single(work, "use nosuch\nfn f() -> i32 { nosuch::f(1) + nosuch::E::A }\nfn g(x: nosuch::T) -> i32 { 1 }", "E2007", "")
    single(work, 'struct S { item: String }\nfn f() -> S { S { itm: "x" } }', "E2004", "did you mean `item`?")
    single(work, 'agent A {\n    block a: request { promptt: "x" }\n}\n', "E2234", "did you mean `prompt`?")


def test_a_declaration_with_a_syntax_error_has_no_other_errors(work):
    open_call = """fn work(ctx: Context, x: String) -> String { "do it"! }
fn main(ctx: Context) -> String {
    let n = 1
    let answer = work(ctx, "x" budget(calls: 7) catch spent {
        return "none"
    }
    answer + n
}
fn other() -> i32 { missing() }
"""
    found = [code for code, *_ in diagnose(work, open_call)]
    assert found == ["E1101", "E2001"], found
    for body in ("let x: i32 = 'a'\n    x", "f('a')", "return 'a'", "let y: i32 = 'don't do'\n    y"):
        single(work, f"fn f(x: i32) -> i32 {{\n    {body}\n}}\n", "E1003", "double quotes")
    single(work, 'fn f(ctx: Context) -> i32 {\n    "never seen"!\n    let x: i32 = \'a\'\n    1\n}\n', "E1003", "double quotes")


def test_arguments_that_do_not_fit_are_one_error(work):
    declared = "fn f(a: i32, b: String, c: f64) -> i32 { 1 }\n"
    single(work, declared + 'fn g() -> i32 { f("x", 2, "z") }', "E2101", "it is declared as `f(a: i32, b: String, c: f64)`")
    single(work, declared + 'fn g() -> i32 { f("x", 2, 1.0) }', "E2101", "in the wrong order: it is declared as `f(a: i32, b")
    single(work, "fn f(a: String, b: String) -> i32 { 1 }\nfn g(n: i32) -> i32 { f(n, n) }", "E2101", "`.to_string()`")
    single(work, "fn g(s: String, n: i32) -> String { s.replace(n, n) }", "E2101", "`.to_string()`")
    single(work, 'enum E { A(i32, String) }\nfn g() -> E { E::A("x", 2) }', "E2101", "wrong order: it is declared as `E::A(i32, String)`")
    shown = messages(work, declared + 'fn g() -> i32 { f("x", 2, 1.0) }')
    assert "expected `String`, found `i32`" in shown, shown
    found = diagnose(work, declared + 'fn g() -> i32 { f("x", "y", 1.0) + f(1, "y", lost) }')
    assert [code for code, *_ in found] == ["E2101", "E2001"], found


def test_texts_where_something_else_is_expected(work):
    single(work, 'fn f(n: i32) -> i32 { n }\nfn g() -> i32 { f("12") }', "E2101", "remove the quotation marks: `12`", "12")
    found = diagnose(work, 'fn f(n: i32) -> i32 { n }\nfn g() -> i32 { f("twelve") }')
    assert found == [("E2101", "", None)], found
    single(work, 'fn f(n: i32) -> i32 { n }\nfn g(s: "a" | "b") -> i32 { f(s) }', "E2101", "with `match`")
    single(work, "fn f(n: i32) -> i32 { n }\nfn g(s: String) -> i32 { f(s) }", "E2101", "`.parse<i32>()`")
    single(work, "fn f(s: String) -> i32 { 1 }\nfn g() -> i32 { f(2) }", "E2101", 'write it as a text: `"2"`')
    for text in ("Red", "Rde"):
        single(work, f'enum Color {{ Red, Blue }}\nfn f() -> Color {{ "{text}" }}', "E2101", "write the case as `Color::Red`")


def test_cases_of_enums_and_options(work):
    declared = "enum E { A, B }\n"
    single(work, declared + "fn f() -> E { A }", "E2001", "did you mean `E::A`?", "E::A")
    single(work, declared + "fn f(e: E) -> Boolean { e == B }", "E2001", "did you mean `E::B`?", "E::B")
    single(work, declared + "fn f() -> E { E.A }", "E2013", "write the case as `E::A`", "E::A")
    for pattern in ("some(x)", "Just(x)", "Option::Some(x)"):
        found = diagnose(work, f"fn f(o: i32?) -> i32 {{ match o {{ {pattern} => 1, _ => 0 }} }}")
        assert found[0] == ("E2115", "write `Some(…)`", None), found
    single(work, "fn f(o: i32?) -> i32 { match o { Option::None => 1, _ => 0 } }", "E2115", "write `None`")
    single(work, "fn f() -> i32? { Option::Some(1) }", "E2001", "write `Some(…)`", "Some")
    single(work, "fn f() -> i32? { Option::None }", "E2001", "write `None`", "None")
    single(work, "fn f() -> i32? { Just(1) }", "E2001", "write `Some(…)`", "Some")


def test_cases_with_values_that_are_written_without_their_enum(work):
    declared = "enum E { A1(String), C, D(i32, i32) }\n"
    single(work, declared + 'fn f() -> E { A1("x") }', "E2001", "did you mean `E::A1`?", "E::A1")
    single(work, declared + "fn f() -> E { D(1, 2) }", "E2001", "did you mean `E::D`?", "E::D")
    single(work, declared + "fn f(e: E) -> i32 { match e { A1(x) => 1, _ => 0 } }", "E2115", "write `E::A1(…)`")
    single(work, declared + "fn f(e: E) -> i32 { match e { A2(x) => 1, _ => 0 } }", "E2115", "write its cases as `E::…`")
    found = diagnose(work, declared + 'fn f() -> A1 { A1("x") }')
    assert not any(code.startswith("E") for code, _, _ in found), ("a text type is another thing", found)


def test_what_a_route_does_not_cover(work):
    program = """agent D {{
    state {{ ok: Boolean = true }}
    block sort: route {{ on state.ok {{ {} }} }}
    block order: emit {{ text: "Noted." }}
}}
"""
    single(work, program.format("true -> order"), "E2109", "add an arm for it, or end the arms with `else -> …`")
    assert diagnose(work, program.format("true -> order, else -> order")) == []
    single(work, "fn f(b: Boolean) -> i32 { match b { true => 1 } }", "E2109", "add an arm for it, or a wildcard arm `_ => …`")


def test_what_is_written_for_methods_of_options_and_results(work):
    """The hints lead to programs without mistakes."""
    for parameter, result, call, hint, instead in (
            ("x: i32?", "i32?", "x.or(Some(2))", "`x ?? other`", "x ?? Some(2)"),
            ("x: i32?", "i32", "x.or_else(|| 2)", "`x ?? other`", "x ?? 2"),
            ("x: i32?", "i32", "x.unwrap_or_else(|| 2)", "`x ?? other`", "x ?? 2"),
            ("x: i32?", "i32?", "x.and_then(|v| Some(v))", "`match x { Some(value) => …, None => None }`",
             "match x { Some(value) => Some(value + 1), None => None }"),
            ("x: i32?", "i32?", "x.filter(|v| v > 1)", "`match x { Some(value) if … => Some(value), _ => None }`",
             "match x { Some(value) if value > 1 => Some(value), _ => None }"),
            ("x: i32?", "i32", "x.map_or(0, |v| v + 1)", "`x.map(|value| …) ?? other`", "x.map(|value| value + 1) ?? 0"),
            ("x: i32?", "Boolean", "x.is_some_and(|v| v > 1)", "`x.map(|value| …) ?? false`", "x.map(|value| value > 1) ?? false"),
            ("x: i32?", "i32?", "x.take()", "assign `None`, after `let taken = x`", "let taken = x\n    x = None\n    taken"),
            ("x: i32?", "i32", "x.get_or_insert(1)", "`x = Some(x ?? …)`", "x = Some(x ?? 1)\n    x.unwrap()"),
            ("x: Option<Option<i32>>", "i32?", "x.flatten()", "`x ?? None`", "x ?? None"),
            ("x: i32?", "i32", "x.iter()", "`if let Some(value) = x { … }`", "if let Some(value) = x { return value }\n    0"),
            ("x: Result<i32>", "Result<i32>", "x.map(|v| v + 1)", "Ok(value) => Ok(…)",
             "match x { Ok(value) => Ok(value + 1), Err(failure) => Err(failure) }"),
            ("x: Result<i32>", "i32?", "x.ok()", "Ok(value) => Some(value)", "match x { Ok(value) => Some(value), Err(_) => None }"),
            ("x: Result<i32>", "Result<i32>", "x.or(Ok(1))", "Err(_) => …", "match x { Ok(value) => Ok(value), Err(_) => Ok(1) }"),
            ("x: Result<i32>", "Boolean", "x.is_ok_and(|v| v > 1)", "Err(_) => false",
             "match x { Ok(value) => value > 1, Err(_) => false }"),
            ("s: String", "String", "s.format(1)", "`\"{{ x }}\"`", '"{{ s }}{{ 1 }}"'),
            ("s: String", "String", "s.capitalize()", "`s.slice(0, 1).to_uppercase() + s.slice(1, s.len())`",
             "s.slice(0, 1).to_uppercase() + s.slice(1, s.len())")):
        function = f"fn f({parameter}) -> {result} {{\n    {{}}\n}}\n".replace("{}", "BODY")
        single(work, function.replace("BODY", f"let r = {call}\n    fail(\"\")"), "E2005", hint)
        assert diagnose(work, function.replace("BODY", instead)) == [], (instead, diagnose(work, function.replace("BODY", instead)))


def test_structs_have_no_constructors(work):
    declared = "struct P { x: i32, y: i32 }\n"
    for call in ("P::new()", "P::new(1, 2)", "P::create()"):
        single(work, declared + f"fn f() -> P {{ {call} }}", "E2005", "construct it with `P { x: …, y: … }`")
    single(work, declared + "fn f() -> P { P(1, 2) }", "E2012", "construct it with `P { x: …, y: … }`")
    single(work, declared + "impl P { fn zero() -> P { P { x: 0, y: 0 } } }\nfn f() -> P { P::zeor() }", "E2005", "did you mean `zero`?")
    single(work, "fn f(self) -> i32 { 1 }", "E2128", "`self` has a type only in the methods of an `impl`")


def test_methods_of_other_languages(work):
    for parameter, calls in (
            ("s: String", {"length()": "`len`", "to_upper()": "`to_uppercase`", "toUpperCase()": "`to_uppercase`", "substr(0, 1)": "`slice`",
                           "isEmpty()": "`is_empty`", "trim_start()": "`trim`", "indexOf(\"a\")": "`find`", "toInt()": "`.parse<i32>()`",
                           "concat(\"a\")": "with `+`", "charAt(0)": "`.slice(i, i + 1)`", "length": "`.len()`"}),
            ("xs: List<i32>", {"size()": "`len`", "push_back(1)": "`push`", "append(1)": "`push`", "add(1)": "`push`", "length": "`.len()`",
                               "head()": "`first`", "indexOf(1)": "`position`", "forEach(|x| x)": "`for x in xs { … }`",
                               "extend(xs)": "with `+`", "take(2)": "`.slice(0, n)`", "none(|x| x > 1)": "`!xs.any(…)`"}),
            ("m: Map<i32>", {"has(\"a\")": "`contains_key`", "containsKey(\"a\")": "`contains_key`", "put(\"a\", 1)": "`insert`",
                             "set(\"a\", 1)": "`insert`", "delete(\"a\")": "`remove`", "items()": "`for (key, value) in m { … }`",
                             "get_or(\"a\", 1)": "`.get(key).unwrap_or(value)`", "size": "`.len()`"}),
            ("o: i32?", {"isSome()": "`is_some`", "value()": "`unwrap`", "expect(\"x\")": "`unwrap`", "get()": "`unwrap`",
                         "getOrElse(1)": "`unwrap_or`", "is_null()": "`is_none`", "isPresent()": "`is_some`"}),
            ("n: i32", {"to_f64()": "`as f64`", "sqrt()": "`(n as f64).sqrt()`", "toString()": "`to_string`"}),
            ("x: f64", {"to_int()": "`as i32`", "pow(2.0)": "`powf`", "ceiling()": "`ceil`"})):
        for call, hint in calls.items():
            code = "E2005" if "(" in call else "E2004"
            single(work, f"fn f({parameter}) -> i32 {{\n    let r = {parameter.split(':')[0]}.{call}\n    1\n}}\n", code, hint)


def test_words_and_edges_of_blocks(work):
    report = 'agent A {{\n    start ask\n    block ask: report {{ template: "x", format: {} }}\n}}\n'
    head = "agent A {{\n    start ask\n    block ask: {}\n    block other: request {{ prompt: \"x\" }}\n}}\n"
    single(work, report.format('"pdf"'), "E2260", "remove the quotation marks: `pdf`", "pdf")
    single(work, report.format("htlm"), "E2260", "did you mean `html`?", "html")
    on = 'route {{\n        on 1 + 1 {{\n            2 -> other\n            {}\n        }}\n    }}'
    single(work, head.format(on.format("_ => other")), "E1101", "an edge to the next block is written `->`", "->")
    route = 'route {{\n        when 1 == 2 -> other\n        {}\n    }}'
    for edge in ("_ => other", "_ -> other"):
        single(work, head.format(route.format(edge)), "E1101", "`else -> NEXT`", "else")
    single(work, head.format(route.format('"billing" -> other')), "E1101", "`on VALUE {")


def test_a_member_is_on_the_line_of_its_dot(work):
    program = "struct P {{ x: i32 }}\nfn f(p: P) -> i32 {{\n    let b = 1\n    {}\n    b\n}}\n"
    for line in ("let a = p.", "p.", "p?."):
        found = diagnose(work, program.format(line))
        assert [code for code, *_ in found] == ["E1101"], found
        assert "expected a field or method, found end of line" in messages(work, program.format(line))
    assert diagnose(work, program.format("let a = p\n        .x")) == []


def test_a_chain_of_generic_functions_is_named(work):
    last = "fn main() -> i32 { a<i32>(1) }\n"
    single(work, "fn a<T>(x: T) -> i32 { a<(T, T)>((x, x)) }\n" + last, "E2123", "`a` calls itself with ever larger types")
    single(work, "fn a<T>(x: T) -> i32 { b<(T, T)>((x, x)) }\nfn b<T>(x: T) -> i32 { a<T>(x) }\n" + last, "E2123",
           "`b` → `a` → `b` calls itself with ever larger types")


def test_a_chain_of_else_if_is_not_nesting(work):
    chain = "".join(f" else if n == {number} {{ {number} }}\n" for number in range(1, 600))
    assert diagnose(work, f"fn f(n: i32) -> i32 {{\n    if n == 0 {{ 0 }}{chain} else {{ 1 }}\n}}\n") == []
    chain = "".join(f"{{{{ else if n == {number} }}}}{number}" for number in range(1, 600))
    assert diagnose(work, f'fn f(n: i32) -> String {{ "{{{{ if n == 0 }}}}0{chain}{{{{ end }}}}" }}\n') == []


def test_actions_and_steps_of_pursue(work):
    start = "fn a2(x: i32) -> i32 { x + 1 }\nfn f(ctx: Context) -> i32 { pursue |n| n == 3 from 1 "
    single(work, start + "{\n    a2(_)\n    a2(_)\n} }", "E2249", "`… as name`")
    single(work, start + "limit 0 { a2(_) } }", "E2114", "")


def test_values_in_single_braces(work):
    struct = "struct P { name: String, tags: List<String> }\n"
    for inside in ("p.name", " p ", "p.tags[0]", "p.name.to_uppercase()"):
        single(work, f'{struct}fn f(p: P) -> String {{ "a {{{inside}}} b" }}', "W3010", "`{{ " + inside.strip() + " }}`",
               "{{ " + inside.strip() + " }}")
    assert diagnose(work, 'fn f(n: i32) -> String { "\\{{ n }}" }') == []
    agent = ('agent A {{\n    state {{ n: i32 = 0 }}\n    instructions {{ "{}"! }}\n'
             '    fn turn(ctx: Context, input: String) -> String {{ input! }}\n}}\n')
    single(work, agent.format("You count to {state.n}."), "W3010", "`{{ state.n }}`", "{{ state.n }}")
    for text in ("Answer with {name}", 'Answer with {\\"n\\": 1}', "You count to {{ state.n }}."):
        assert diagnose(work, agent.format(text)) == [], text
    for inside in ("p: 1", "p, q", "other.name", "p."):
        assert diagnose(work, f'{struct}fn f(p: P) -> String {{ "a {{{inside}}} b" }}') == []


def test_choices_have_at_most_256_clauses(work):
    for start, end, what in (("select {", " => 1", "`select` can have at most 256 clauses"),
                             ("pursue |n| n > 900 from 1 {", "", "`pursue` can have at most 256 actions")):
        lines = [f"f({n}, _){end}" for n in range(257)]
        program = "fn f(a: i32, b: i32) -> i32 {{ a + b }}\nfn main(ctx: Context) -> i32 {{\n\"Choose b.\"!\n{}\n}}\n"
        assert diagnose(work, program.format("\n".join([start, *lines[:256], "}"]))) == [], start
        found = diagnose(work, program.format("\n".join([start, *lines, "}"])))
        assert [code for code, *_ in found] == ["E2213"], found
        assert what in messages(work, program.format("\n".join([start, *lines, "}"])))


def test_a_doc_comment_that_describes_nothing(work):
    comment = "\n/// Words.\n"
    for program in ("enum E {{ A({}String) }}", "type P = (i32, {}String)", "type Q = {}String", "type Q = {}String?", "struct S {{ a: {}i32 }}",
                    "type Q = {}String len 1..", "fn f(a: List<{}String>) -> i32 {{ 1 }}", "fn f() -> {}i32 {{ 1 }}",
                    "fn f() -> i32 {{\nlet a: {}i32 = 1\na\n}}", "extern fn f(a: i32) -> {}String"):
        single(work, program.format(comment), "W3012", "before the name of")
        assert diagnose(work, program.format("")) == [], program
    for program in ('type T = {}"a" | {}"b"', 'fn f(a: {}"a" | "b") -> i32 {{ 1 }}', "{}type T = String", "enum E {{ {}A(String) }}",
                    "struct S {{ {}a: i32, }}", "fn f({}a: i32) -> i32 {{ 1 }}", "fn f() -> i32 {{ {}1 }}"):
        assert diagnose(work, program.format(comment, comment)) == [], program


def test_a_select_that_offers_the_same_call_twice(work):
    program = "fn f(n: i32) -> i32 {{ n }}\nfn main(ctx: Context) -> i32 {{\n\"Choose n.\"!\nselect {{\nf(_){} => 1\nf(_){} => 2\n}}\n}}\n"
    single(work, program.format("", ""), "W3011", "a name that tells when to choose it")
    single(work, program.format(" as a", " as a"), "W3011", "a name that tells when to choose it")
    assert diagnose(work, program.format(" as a", " as b")) == []


def test_a_wrong_option_of_a_block_is_one_error(work):
    agents = "fn f(x: i32) -> i32 { x }\nstruct S { a: i32 }\n" \
             "agent Helper { fn turn(ctx: Context, input: String) -> String { input } }\n" \
             "agent A {\n    state { n: i32 = 0, words: List<String> = [] }\n    block a: %s\n}\n"
    for wrong in ('"Helper"', "(Helper)", "[Helper]", "Helper::run", "Helper {}"):
        single(work, agents % f"delegate {{ agent: {wrong} }}", "E2260", "`Helper`", "Helper")
    for wrong in ("3", "state.n", "f", "S", '"Some words."'):
        single(work, agents % f"delegate {{ agent: {wrong} }}", "E2260", "write `agent: NAME`")
    assert diagnose(work, agents % "delegate { agent: Helper }") == []
    single(work, agents % "call { call: f(1), into: n }", "E2267", "write `into: state.n`", "state.n")
    single(work, agents % "call { call: f(1), into: 3 }", "E2267", "write `into: state.NAME`")
    single(work, agents % 'edit_message { text: 3 -> b }\n    block b: emit { text: "x" }', "E2101", 'write it as a text: `"3"`')
    for wrong in ("x", '"f(1)"', "f"):
        single(work, agents % f"call {{ call: {wrong} }}", "E2273", "write `call: tool(argument)`")
    loop = agents % "for_each {\n    item x: String in %s\n    block b: emit { text: \"x\" }\n    }"
    single(work, loop % '"l"', "E2119", "use `.chars()` for the characters")
    assert diagnose(work, loop % '"l".chars()') == []
    for wrong in ("3", "0..3", "true"):
        single(work, loop % wrong, "E2119", "`parallel` loops require a `List`")


def test_self_belongs_to_methods(work):
    agent = "agent A {\n    state { n: i32 = 1 }\n    fn turn(%sctx: Context, input: String) -> String { \"{{ x() }}\" }\n" \
            "    fn x(%s) -> i32 { %s.n }\n}\n"
    single(work, agent % ("", "self", "self"), "E2128", "remove it: every function of an agent can use `state`")
    single(work, agent % ("self, ", "", "state"), "E2128", "remove it: every function of an agent can use `state`")
    for name in ("self", "this"):
        single(work, agent % ("", "", name), "E2001", "the functions of an agent use `state`")
    assert diagnose(work, agent % ("", "", "state") + "impl A { fn y(self) -> i32 { 3 } }\n") == []
    methods = "struct S { a: i32 }\nimpl S { fn two(%s) -> i32 { %s.a } }\nfn f(s: S) -> i32 { s.two(1) }\n"
    single(work, methods % ("n: i32, self", "self"), "E2128", "move it before `n`")
    single(work, methods % ("self, n: i32", "this"), "E2001", "write `self`", "self")
    single(work, "struct S { a: i32 }\nimpl S { fn two(self, self) -> i32 { 1 } }\n", "E2002", "")
    assert diagnose(work, methods % ("self, n: i32", "self")) == []
    single(work, "fn f() -> i32 { this }", "E2001", "`self` is the first parameter of a method in an `impl`")
    single(work, "fn f(self) -> i32 { self.n }", "E2128", "only in the methods of an `impl`")


def test_a_case_of_the_enum_that_is_expected(work):
    enums = "enum E { A, B(i32) }\nenum F { A, C, D(i32) }\nenum G { D(i32) }\nstruct S { f: F }\nfn take(f: F) -> i32 { 1 }\n"
    for function in ("fn h() -> F { A }", "fn h() -> F { let x: F = A\n x }", "fn h() -> i32 { take(A) }", "fn h() -> S { S { f: A } }",
                     "fn h() -> F? { Some(A) }", "fn h() -> F? { A }", "fn h() -> List<F> { [A] }", "fn h() -> F { return A }"):
        single(work, enums + function, "E2001", "did you mean `F::A`?", "F::A")
    single(work, enums + "fn h() -> G { D(3) }", "E2001", "did you mean `G::D`?", "G::D")
    single(work, enums + "fn h() -> String { \"{{ A }}\" }", "E2001", "did you mean `E::A` or `F::A`?")
    single(work, enums + "fn h() -> String { \"{{ C }}\" }", "E2001", "did you mean `F::C`?", "F::C")
    single(work, "use m1\nfn h() -> m1::E { A }\n", "E2001", "did you mean `m1::E::A`?", "m1::E::A", TWO)


def test_a_union_of_integers(work):
    union = "type N = 1 | 2\n"
    single(work, union + 'fn f() -> N { "1" }', "E2101", "remove the quotation marks: `1`", "1")
    single(work, 'fn f() -> 1 | 2 { "2" }', "E2101", "remove the quotation marks: `2`", "2")
    single(work, union + 'fn f() -> N { "3" }', "E2101", "")
    single(work, union + "fn f(s: String) -> N { s }", "E2101", "convert with `N(text.parse<i64>())`")
    single(work, "fn f(s: String) -> 1 | 2 { s }", "E2101", "name the union with `type`, then convert with `Name(text.parse<i64>())`")
    single(work, union + "fn f(n: i64) -> N { n }", "E2101", "convert with `N(number)`")
    single(work, union + "fn f(n: i32) -> N { n }", "E2101", "convert with `N(number as i64)`")
    single(work, union + "fn f(n: f64) -> N { n }", "E2101", "convert with `N(number as i64)`")
    single(work, union + 'fn f(s: "1" | "2") -> N { s }', "E2101", "choose a number for each of its texts with `match`")
    single(work, union + "fn f() -> N { N }", "E2013", "convert with `N(number)`")
    assert diagnose(work, union + "fn f(text: String) -> N { N(text.parse<i64>()) }\nfn g(number: i32) -> N { N(number as i64) }\n"
                                  "fn h(number: i64) -> N { N(number) }\nfn i(number: f64) -> N { N(number as i64) }\n") == []


def test_a_field_of_an_option(work):
    declared = "struct S { a: i32, value: i32 }\n"
    for held in ("i32", "String"):
        single(work, f"fn f(o: {held}?) -> {held} {{ o.value }}", "E2004", "handle that with `??`, `if let Some(x) = …` or `.unwrap()`")
    single(work, "fn f(o: i32?) -> i32 { o.foo }", "E2004", "handle that with `??`")
    single(work, "fn f(o: String?) -> i32? { o.length }", "E2004", "use `?.len()`")
    single(work, "fn f(o: String?) -> i32? { o.len }", "E2004", "use `?.len()`")
    single(work, "fn f(o: String?) -> String? { o.upper() }", "E2005", "use `?.to_uppercase()`")
    single(work, "fn f(o: i32?) -> Boolean { o.is_some }", "E2004", "it is a method: write `.is_some()`")
    single(work, "fn f(o: (i32, i32)?) -> i32 { o.0 }", "E2004", "use `?.0`")
    single(work, declared + "fn f(o: S?) -> i32? { o.value }", "E2004", "use `?.value`")
    single(work, declared + "fn f(o: S?) -> i32? { o.valeu }", "E2004", "use `?.value`")
    assert diagnose(work, declared + "fn f(o: S?) -> i32? { o?.value }\nfn g(o: String?) -> i32? { o?.len() }\n"
                                     "fn h(o: (i32, i32)?) -> i32 { o.unwrap().0 }\nfn i(o: i32?) -> i32 { o ?? 3 }\n") == []


def test_a_method_without_its_brackets(work):
    for receiver, name, hint in (("String", "length", "use `.len()` instead"), ("List<i32>", "count", "use `.len()` instead"),
                                 ("Map<i32>", "size", "use `.len()` instead"), ("String", "lenght", "use `.len()` instead"),
                                 ("String", "to_upper", "use `.to_uppercase()` instead"), ("String", "len", "it is a method: write `.len()`"),
                                 ("List<i32>", "contains", "it is a method: write `.contains(…)`"),
                                 ("List<i32>", "reduce", "use `.fold(…)` instead"), ("List<i32>", "average", "divide `.sum()` by `.len()`"),
                                 ("S", "area", "it is a method: write `.area()`"), ("S", "scaled", "it is a method: write `.scaled(…)`")):
        single(work, "struct S { a: i32 }\nimpl S { fn area(self) -> i32 { self.a }\n fn scaled(self, by: i32) -> i32 { self.a * by } }\n"
                     f"fn f(x: {receiver}) -> i32 {{ x.{name} }}", "E2004", hint)
    single(work, "fn f(m: Map<i32>) -> i32 { m.count(|k, v| v > 1) }", "E2005", "use `.values().filter(…).len()`, or count in a loop")
    single(work, 'fn f(s: String) -> i32 { s.count(|c| c == "a") }', "E2005", "use `.chars().filter(…).len()` instead")
    assert diagnose(work, 'fn f(s: String) -> i32 { s.chars().filter(|c| c == "a").len() }\n'
                          "fn g(m: Map<i32>) -> i32 { m.values().filter(|v| v > 1).len() }\n"
                          "fn h(m: Map<i32>) -> i32 { let n = 0\n for (key, value) in m { n += value }\n n }\n") == []


def test_a_value_that_may_be_a_failure(work):
    hint = "handle that with `match`, `.unwrap_or(…)` or `.unwrap()`"
    for result, body, code in (("i32", "r + 1", "E2105"), ("i32", "1 + r", "E2105"), ("i32", "r", "E2101"), ("i32", "-r", "E2138"),
                               ("i32", "return r", "E2104"), ("i64", "r as i64", "E2120"), ("i32", "r.abs()", "E2005"),
                               ("String", "r", "E2101"), ("Boolean", "r == 1", "E2105"), ("i32?", "r", "E2101")):
        single(work, f"fn f(r: Result<i32>) -> {result} {{ {body} }}", code, hint)
    lists = "struct S { a: i32 }\nfn f(r: Result<List<i32>>, s: Result<S>) -> i32 { %s }"
    single(work, lists % "r[0]", "E2118", hint)
    single(work, lists % "for x in r { }\n 1", "E2119", hint)
    single(work, lists % "s.a", "E2004", hint)
    single(work, lists % "let n = 1\n n += s\n n", "E2101", hint)
    single(work, "fn f(r: Result<i32>) -> i32 { r ?? 3 }", "E2139", "use `.unwrap_or(…)` instead")
    single(work, "fn f(n: i32) -> i32 { n ?? 3 }", "E2139", "remove it: the value is never `None`")
    single(work, "fn f(r: Result<Boolean>) -> i32 { if r { 1 } else { 2 } }", "E2106", "`if let Ok(x) = …`")
    single(work, "fn f() -> Result<i32> { 3 }", "E2101", "wrap it: `Ok(…)`")
    assert diagnose(work, "fn f(r: Result<i32>) -> i32 { r.unwrap_or(3) + r.unwrap() }\nfn g() -> Result<i32> { Ok(3) }\n"
                          "fn h(r: Result<i32>) -> i32 { match r { Ok(x) => x, Err(failure) => 0 } }\n"
                          "fn i(r: Result<i32>) -> i32 { if let Ok(x) = r { x } else { 0 } }\n") == []


def test_a_path_into_a_module(work):
    old = "Manner"
    for value in (f"react::{old} {{ turns: 1 }}", f"react::{old}::Whole"):
        single(work, f"use std::react\nfn f() -> i32 {{ let m = {value}\n 1 }}", "E2008", "did you mean `ReactOptions`?", "ReactOptions")
    single(work, "use std::react\nfn f() -> i32 { let m = react::reakt\n 1 }", "E2008", "did you mean `react`?", "react")
    single(work, "use std::react\nfn f() -> i32 { let m = react::react\n 1 }", "E2013", "call it: `react::react(…)`")
    single(work, "use std::react\nfn f() -> i32 { let m = reakt::ReactOptions { turns: 1 }\n 1 }", "E2001", "did you mean `react`?", "react")
    for name, now, uses in ((old, "ReactOptions", f"let m = {old} {{ turns: 1 }}\n let n = {old}::Whole"),
                            ("reakt", "react", 'let n = reakt("x")')):
        single(work, f"use std::react::{{{name}}}\nfn f() -> i32 {{ {uses}\n 1 }}\n", "E2008", f"did you mean `{now}`?", now)


def test_texts_in_single_quotes(work):
    for text in ("'it'", "'it''s'", "''", "'it''s' + \"x\"", "'''it\n's'''"):
        single(work, f"fn f() -> String {{ {text} }}\n", "E1003", "use double quotes")
    found = diagnose(work, "fn f() -> String { 'a' 'b' }\n")
    assert [one[0] for one in found] == ["E1003", "E1003"], found
