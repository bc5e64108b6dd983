"""Calls of functions with Python's values."""
import asyncio
import inspect
import pathlib
import subprocess
import typing

import numpy
import pytest
import tenon


def test_a_function_is_called_with_positions_and_names(desk):
    order = desk.Order("tea", 3, ["green"])
    assert desk.total(order) == desk.total(order=order) == 21
    assert desk.total({"item": "tea", "count": 2, "tags": ()}) == 14
    assert desk.twice(order) == desk.Order("tea", 6, ["green"])
    assert desk.nothing() is None


def test_each_type_has_a_form_in_python(desk):
    assert desk.rate(50) == 0.5
    assert desk.kind_of("billing") == "billing"
    assert desk.larger("Small") == "Large"
    for shape in (desk.ShapePoint(), desk.ShapeCircle(1.5), desk.ShapeBox(1, 2.0)):
        assert desk.same_shape(shape) == shape
    assert (desk.or_ten(), desk.or_ten(None), desk.or_ten(3)) == (10, 10, 3)
    assert (desk.first_of([]), desk.first_of((2**40, 1)), desk.first_of(range(5, 9))) == (None, 2**40, 5)
    assert desk.counts({"tea": 1, "": 2}) == {"tea": 1, "": 2}
    assert desk.pair(4) == (4, "n")


def test_functions_and_classes_describe_themselves(desk):
    assert desk.total.__doc__ == "The price of an order."
    assert str(inspect.signature(desk.or_ten)) == "(n: Optional[int] = None) -> int"
    assert desk.Order.__doc__ == "What is ordered, and how often."
    assert typing.get_type_hints(desk.Order) == {"item": str, "count": int, "tags": list[str]}
    assert typing.get_args(desk.Kind) == ("billing", "technical")
    assert {"total", "Order", "Counter"} <= set(dir(desk))


@pytest.mark.parametrize("arguments, message", [
    (("x",), "a text is stored in argument `n`, which is declared `i32`"),
    ((2**40,), "argument `n`: `1099511627776` is out of range for `i32`"),
    ((2**70,), "out of range for `i32`"),
    ((True,), "argument `n`"),
    ((object(),), "expected `i32`, got a Python `object`"),
])
def test_a_wrong_argument_is_an_error_with_its_place(desk, arguments, message):
    with pytest.raises(tenon.InputError) as raised:
        desk.half(*arguments)
    assert message in str(raised.value)
    assert raised.value.kind == "WrongInput"


def test_arguments_are_those_of_the_declaration(desk):
    for call, message in [(lambda: desk.half(), "missing argument 'n'"), (lambda: desk.half(1, 2), "takes 1 arguments"),
                          (lambda: desk.half(1, n=2), "multiple values"), (lambda: desk.half(m=1), "unexpected argument 'm'")]:
        with pytest.raises(TypeError, match=message):
            call()
    with pytest.raises(tenon.InputError, match="`.count` of argument `order`"):
        desk.total({"item": "tea", "count": "four", "tags": []})
    with pytest.raises(tenon.InputError, match="no field `size`"):
        desk.total({"item": "tea", "count": 4, "tags": [], "size": 1})
    with pytest.raises(AttributeError, match="did you mean `total`"):
        desk.totl()


def test_a_function_is_an_object_of_its_class(desk):
    assert isinstance(desk.half, tenon.Function) and callable(desk.half)
    assert (desk.half.__name__, repr(desk.half)) == ("half", "<tenon function half(n: int) -> int>")
    bound = type("Desk", (), {"half": desk.half})()  # not a method: a class may have it as an attribute
    assert bound.half(8) == desk.half.__call__(8) == 12
    for wrong in (lambda: desk.half(*[8, 9]), lambda: desk.half(**{"m": 8}), lambda: tenon.Function.__new__(tenon.Function)(8)):
        with pytest.raises(TypeError):
            wrong()


def test_a_failure_has_a_kind_a_place_and_a_blame(desk):
    with pytest.raises(tenon.RunFailed) as raised:
        desk.half(0)
    assert raised.value.kind == "Arithmetic"
    assert raised.value.place.line > 0 and raised.value.place.path.endswith("desk.tn")
    with pytest.raises(tenon.RunFailed, match="ValueError: gold is not sold") as raised:
        desk.total(desk.Order("gold", 1, []))
    assert (raised.value.kind, raised.value.blame) == ("ToolFailed", "price")


def test_an_error_in_a_program_has_its_problems():
    with pytest.raises(tenon.ProgramError) as raised:
        tenon.load("x.tn", text="fn main() -> i32 { y }")
    assert raised.value.problems[0].message == "cannot find `y`" or "y" in raised.value.problems[0].message
    assert (raised.value.place.line, raised.value.place.path) == (1, "x.tn")
    with pytest.raises(tenon.Error, match="did you mean `model`"):
        tenon.load("x.tn", text="fn main() -> i32 { 1 }", modle="builtin")


def test_a_call_that_asks_gives_its_run(desk):
    with pytest.raises(tenon.NeedsAnswer, match="Which colour") as raised:
        desk.colour()
    run = raised.value.run
    run.answer(run.waits()[0], "red")
    assert run.result() == "It is red."


def test_a_value_may_change_the_dictionary_that_it_is_in(tmp_path):
    class Part:
        n = 3

        def __init__(self, owner):
            self.owner = owner

        @property
        def name(self):
            self.owner.clear()
            return "a"

    text = "struct Part { name: String, n: i32 }\nstruct Whole { part: Part }\nfn same(whole: Whole) -> Whole { whole }\n"
    with tenon.load(tmp_path / "parts.tn", text=text) as program:
        for _ in range(100):
            whole = {}
            whole["part"] = Part(whole)
            assert program.same(whole).part.n == 3


def test_names_that_utf_8_does_not_have_are_refused(desk):
    with pytest.raises(TypeError, match="unexpected argument"):
        desk.half(**{"\ud800": 1})
    with pytest.raises(TypeError, match="has no field"):
        desk.twice({"item": "tea", "count": 1, "tags": [], "\ud800": 1})


def test_a_failure_as_a_value_keeps_its_text(tmp_path):
    text = "extern fn find(n: i32) -> Result<i32, Failure>\n" \
           "fn why(n: i32) -> String { match find(n) { Ok(_) => \"\", Err(failure) => failure.message } }\n"
    with tenon.load(tmp_path / "why.tn", text=text, externs={"find": lambda n: tenon.Err("a\0b")}) as program:
        assert program.why(1) == "a\0b"


def test_secrets_are_plain_values_for_functions_of_python(tmp_path):
    seen = []

    def login(password: str) -> int:
        seen.append(password)
        return len(password)

    text = """
extern fn login(password: secret String) -> i32
struct Card { number: secret String, name: String }
fn enter(password: secret String) -> i32 { login(password) }
fn name(card: Card) -> String { card.name }
fn give_away(password: secret String) -> secret String { password }
"""
    with tenon.load(tmp_path / "secrets.tn", text=text, externs=[login]) as program:
        assert program.enter("hunter22") == 8 and seen == ["hunter22"]
        assert program.name(program.Card("1234", "Ann")) == "Ann"
        with pytest.raises(TypeError, match="secret"):
            program.give_away("hunter22")


def test_a_program_with_reports_needs_the_library_of_the_command_line(tmp_path):
    text = "use std::report\nfn main() -> String { \"\" }"
    with pytest.raises(tenon.ProgramError, match="`report-library`"):
        tenon.load("r.tn", text=text)
    with pytest.raises(tenon.ProgramError, match="r.so"):
        tenon.load("r.tn", text=text, report_library=tmp_path / "r.so")


def test_functions_of_libraries_run_in_processes(tmp_path):
    source = tmp_path / "plus.c"
    source.write_text("int plus(int a, int b) { return a + b; }\nint crash(void) { __builtin_trap(); }\n")
    library = tmp_path / "plus.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    text = "extern(process) fn plus(a: i32, b: i32) -> i32\nextern(process) fn crash() -> i32\n" \
           "fn sum(a: i32) -> i32 { plus(a, 1) }\nfn fall() -> i32 { crash() }\n"
    with tenon.load(tmp_path / "sum.tn", text=text, extern=library) as program:
        assert program.sum(4) == 5
        with pytest.raises(tenon.RunFailed, match="its process was killed by SIG"):
            program.fall()


ARGUMENTS = """
struct Order { item: String, count: i32 }
fn count(n: i32) -> i32 { n }
fn named(names: Map<i32>) -> i32 { 1 }
fn pair(pair: (i32, String)) -> i32 { 1 }
fn text(text: String) -> String { text }
fn ordered(orders: List<Order>) -> i32 { 1 }
fn truth(is_true: Boolean) -> Boolean { is_true }
"""


@pytest.mark.parametrize(("name", "value", "message"), [
    ("count", 10**30, "argument `n`: the number is out of range for `i32`"),
    ("named", {1: 2}, "argument `names`: the keys of `Map<i32>` are texts, got a Python `int`"),
    ("pair", (1,), "argument `pair`: expected `(i32, String)`, got 1 items"),
    ("text", b"x", "argument `text`: expected `String`, got a Python `bytes`"),
    ("text", "\ud800", "argument `text`: a text with surrogates"),
    ("ordered", [{"item": "tea", "count": 10**30}], "argument `orders`: the number is out of range for `i32`"),
    ("ordered", [{"item": "tea", "count": 1, "colour": "red"}], "argument `orders`: `Order` has no field `colour`"),
    ("ordered", [object()], "argument `orders`: expected `Order`, got a Python `object`"),
    ("truth", pathlib.PurePosixPath("x"), "argument `is_true`: expected `Boolean`, got a Python `pathlib.PurePosixPath`"),
])
def test_an_error_of_an_argument_names_it(tmp_path, name, value, message):
    with tenon.load(tmp_path / "arguments.tn", text=ARGUMENTS) as program:
        function = getattr(program, name)
        for call in (function, function.start, lambda given: asyncio.run(function.aio(given))):
            with pytest.raises(tenon.InputError) as raised:
                call(value)
            assert str(raised.value).startswith(message)


def test_a_truth_value_of_numpy_is_one(tmp_path):
    with tenon.load(tmp_path / "arguments.tn", text=ARGUMENTS) as program:
        assert [program.truth(numpy.bool_(value)) for value in (True, False)] == [True, False]
