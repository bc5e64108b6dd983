"""Habits from other languages and misspellings: each mistake is reported once, with the Tenon equivalent."""
from check_output import diagnose, messages, single
from tenon_process import tenon


def test_words_of_other_languages(work):
    single(work, "fn f() -> i32 { let mut x = 1; x }\n", "E1101", "every variable is mutable", "")
    single(work, "fn f() -> String { let s = 'a'; \"b\" }\n", "E1003", "a character is a `String` of length 1")
    single(work, "fn f() -> i32 { if true = false { 2 } else { 3 } }\n", "E1101", "use `==` to compare", "==")
    single(work, "fn f() -> i32 {\n    let n = 0\n    while n = 3 { n += 1 }\n    n\n}\n", "E1101", "use `==` to compare", "==")
    single(work, "fn f() -> i32 {\n    let n = 0\n    loop { n += 1; if n > 3 { break } }\n    n\n}\n", "E1101", "`while true { … }`",
           "while true")
    single(work, 'fn f() -> String { format!("a") }\n', "E1101", "use a template string")
    single(work, 'fn f() -> i32 { println!("a"); 1 }\n', "E1101", "there is no print function")
    single(work, "fn f() -> List<i32> { vec![1, 2] }\n", "E1101", "write a list as `[1, 2]`")
    single(work, 'fn f(n: i32) -> i32 { panic!("no") }\n', "E1101", "`fail(")
    single(work, "fn f(s: &String) -> i32 { 1 }\n", "E1003", "no references")


def test_declarations_and_texts_of_other_languages(work):
    single(work, "fn f() -> i32 {\n    var x = 1\n    x\n}\n", "E1101", "use `let` to declare a variable", "let")
    single(work, "fn f() -> i32 {\n    const x: i32 = 1\n    x\n}\n", "E1101", "use `let` to declare a variable", "let")
    single(work, 'fn f(x: i32) -> String { f"x is {{ x }}" }\n', "E1101", "remove the prefix", "")
    single(work, "struct P { x: i32, y: i32 }\nfn f() -> P { P { 1, 2 } }\n", "E1101", "name the fields: `P {")


def test_declarations_of_other_languages(work):
    main = "fn main() -> i32 { 1 }\n"
    for line, hint, fix in (("import json", "`use module`", "use"), ("class P { x: i32 }", "`struct`", None),
                            ("def f(x) { 1 }", "begins with `fn`", "fn"), ("func f(x) { 1 }", "begins with `fn`", "fn"),
                            ("function f(x) { 1 }", "begins with `fn`", "fn"), ("const x = 1", "no global constants", None),
                            ("var x = 1", "no global variables", None), ("interface I { }", "no interfaces", None)):
        single(work, f"{line}\n{main}", "E1101", hint, fix)
    single(work, "fn main() -> i32 {\n    import json\n    1\n}\n", "E1101", "`use module`", "use")
    single(work, "fn f(n: i32) -> i32 {\n    if n == 0 { 1 } elif n == 1 { 2 } else { 3 }\n}\n", "E1101", "`else if`", "else if")
    single(work, "fn main() -> i32? { null }\n", "E2001", "`None`", "None")
    found = diagnose(work, f"import a\nclass B {{ }}\n{main}")
    assert [one[0] for one in found] == ["E1101", "E1101"], found


def test_hints(work):
    single(work, "fn f(o: String?) -> String { let s: String = o\n    s }\n", "E2101", "the value may be `None`")
    single(work, "fn f(n: i64) -> i32 { let x: i32 = n\n    x }\n", "E2101", "fails at run time")
    single(work, "fn f(n: i32) -> i64 { let x: i64 = n\n    x }\n", "E2101", "convert it with `as i64`")
    single(work, 'fn f(s: String) -> i32 { let t: "a" | "b" = s\n    1 }\n', "E2101", "name the union with `type`")
    shown = messages(work, "use shop\nstruct S { x: i32 }\nfn f(s: S) -> i32 { s.x }\nfn main(s: shop::S) -> i32 { f(s) }\n",
                     [("shop.tn", "struct S { x: i32 }\n")])
    assert "`shop::S`" in shown and "`main::S`" in shown, shown


def test_a_wrong_value_is_reported_at_its_location(work):
    for body in ('let x: i32 = { "a" }\n    x', 'let x: i32 = if 1 < 2 { "a" } else { 2 }\n    x',
                 'match 1 { 0 => "b", _ => 1 }', 'let x: i32 = { { "a" } }\n    x'):
        single(work, f"fn f() -> i32 {{\n    {body}\n}}\n", "E2101", "")
    single(work, 'fn f(n: i32) -> i32 { match n { 0 => 1 _ => 2 } }\n', "E1101", "")


def test_a_struct_value_where_a_block_may_follow(work):
    file = work / "program.tn"
    file.write_text("""struct Bag { n: i32 }
fn inc(bag: Bag) -> Bag { Bag { n: bag.n + 1 } }
fn make() -> Bag ensures result == Bag { n: 1 } { Bag { n: 1 } }
fn main(ctx: Context) -> i32 {
    if make() == Bag { n: 1 } { return (pursue |bag| bag.n == 3 from Bag { n: 1 } limit 4 { inc(_) }).n }
    0
}
""")
    script = work / "model.script"
    script.write_text("")
    process = tenon("run", file, "--model", f"script:{script}")
    assert (process.returncode, process.stdout) == (0, "3\n"), process


def test_pursue_without_a_context_is_reported_once(work):
    single(work, "fn inc(n: i32) -> i32 { n + 1 }\nfn dec(n: i32) -> i32 { n - 1 }\n"
           "fn f() -> i32 { pursue |n| n == 3 from 1 { inc(_), dec(_) } }\n", "E2253", "ctx: Context")
    single(work, "fn inc(n: i32) -> i32 { n + 1 }\n"
           "fn f(ctx: Context) -> i32 { let r = pursue |n| n == 3 from 1 { inc(_), nope(_) }\n r }\n", "E2001", "")


def test_misspelt_keywords(work):
    single(work, "fn f() -> i32 {\n    retrun 5\n    1\n}\n", "E1101", "did you mean `return`?", "return")
    single(work, "fn f() -> i32 { lte x = 5; 1 }\n", "E1101", "did you mean `let`?", "let")
    single(work, 'test "a" { assrt true }\n', "E1101", "did you mean `assert`?", "assert")
    assert [one[0] for one in diagnose(work, "fn f() -> i32 { let x = 1 let y = 2; x }\n")] == ["E1106"]


def test_a_suggestion_is_of_the_required_kind(work):
    order = "struct Order { total: i32 }\n"
    single(work, order + "fn f() -> i32 {\n    let ordr = Order { total: 1 }\n    order.total\n}\n", "E2001",
           "did you mean `ordr`?", "ordr")
    single(work, order + "fn f() -> i32 { order.total }\n", "E2001", "did you mean `Order`?")
    single(work, "enum Color { Red }\nfn f(colr: i32) -> Color { Colr::Red }\n", "E2001", "did you mean `Color`?", "Color")


def test_names_of_other_modules_and_languages(work):
    others = [("b.tn", "fn make() -> i32 { 1 }\n")]
    single(work, "use b::{mak}\nfn f() -> i32 { 1 }\n", "E2008", "did you mean `make`?", "make", others)
    single(work, "use b\nfn f() -> i32 { b::mak() }\n", "E2008", "did you mean `make`?", "make", others)
    single(work, 'fn f() -> i32 { "abc".lenght() }\n', "E2005", "did you mean `len`?")


def test_cases_with_named_values(work):
    enum = "enum Shape { Circle(f64), Rect { w: f64, h: f64 }, Unit }\n"
    single(work, enum, "E1101", "enum cases have positional values: `Rect(f64, f64)`")
    found = diagnose(work, enum.replace("{ w: f64, h: f64 }", "(f64, f64)") +
                 "fn f(s: Shape) -> f64 { match s { Shape::Rect { w, h } => 1.0, _ => 2.0 } }\n"
                 "fn g() -> Shape { Shape::Rect { w: 2.0, h: 3.0 } }\n")
    assert [one[0] for one in found] == ["E2115", "E2014"], found
    assert all("enum cases have positional values: `Shape::Rect(…)`" in one[1] for one in found), found


def test_counts_agree(work):
    errors = messages(work, "fn f(x: i32) -> i32 { x }\nfn g() -> i32 { f(1, 2) }\nfn h() -> i32 { f() }\n")
    assert "`f` takes 1 argument, but 2 were given" in errors, errors
    assert "`f` takes 1 argument, but 0 were given" in errors, errors


def test_injections_without_effect(work):
    lost = 'fn f(ctx: Context) -> i32 {\n    let other = Context::new()\n    other.inject("lost")\n    1\n}\n'
    single(work, lost, "W3001", "pass `other` to a call that asks a model")
    single(work, lost.replace("Context::new()", "ctx").replace("ctx: Context", "ctx: Context, n: i32"), "W3001", "`other`")
    assert diagnose(work, 'fn g(ctx: Context) -> String { "say"! }\n' + lost.replace("    1\n", "    g(other).len()\n")) == []


def test_code_after_an_endless_loop(work):
    loop = ('fn g(ctx: Context) -> String { "say"! }\n'
            'fn f(ctx: Context) -> String {\n    while true { g(ctx) }\n    "never"!\n}\n')
    assert [one[0] for one in diagnose(work, loop)] == ["W3005"], diagnose(work, loop)
    left = "fn f() -> i32 {\n    while true { for n in 0..3 { break } if true { break } }\n    1\n}\n"
    assert diagnose(work, left) == []


def test_a_long_line_is_read_quickly(work):
    file = work / "long.tn"
    file.write_text("fn main() -> i32 { " + "let x = 1/1; " * 30_000 + " 1 }\n")
    assert tenon("run", file, seconds_max=60).stdout == "1\n"
