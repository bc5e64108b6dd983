"""The types of programs with type checkers, pydantic, and the import hook."""
import pathlib
import subprocess
import sys

import pydantic
import pytest
import tenon

CHECKED_ONCE = pytest.mark.skipif(sys.version_info[:2] != (3, 11), reason="the sources are checked once, with the oldest version")
TYPES = """
/// What is ordered.
struct Order {
    /// Its name.
    item: String, count: i32 in 1..=99, tags: List<String>, from: String, note: String? }
struct Node { value: i32, next: Node? }
type Kind = "billing" | "technical"
type Level = 1 | 2 | 3
enum Size { Small, Large }
enum Shape { Point, Circle(f64), Box(f64, f64) }

/// Gives the order back.
///
/// It says \\"no\\" to nothing.
fn same(order: Order) -> Order { order }
fn deeper(node: Node) -> Node { Node { value: node.value + 1, next: Some(node) } }
fn kind_of(kind: Kind, level: Level) -> Kind { kind }
fn larger(size: Size) -> Size { Size::Large }
fn grown(shape: Shape, by: f64?) -> Shape { shape }
fn divided(a: i32, b: i32) -> Result<i32, Failure> { try a / b }
fn counts(words: Map<List<i32>>) -> Map<List<i32>> { words }
fn pair(n: i64) -> (i64, String) { (n, "n") }
fn nothing() { }
fn many(orders: List<Order>, by: Map<List<Order>>?, rows: List<List<i32>>?) -> i32 { orders.len() }
fn summary(ctx: Context, text: String) -> Summary { text! }

/// Counts its prompts.
agent Counter {
    state { count: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String { "{{ input }}" }
}
"""
USE = """
import asyncio
import tenon
import types_of_shop as shop

order = shop.Order("tea", 3, ["green"], "here")
same: shop.Order = shop.same(order)
note: str | None = same.note
kind: shop.Kind = shop.kind_of("billing", 2)
shape: shop.Shape = shop.grown(shop.ShapeCircle(2.0), by=1.5)
divided: tenon.Ok[int] | tenon.Err = shop.divided(4, 2)
run: tenon.Run[tuple[int, str]] = shop.pair.start(4)
number, text = run.result()
chat: tenon.Conversation[str] = shop.Counter.start()
answer: str = chat.say("hello")


async def later() -> dict[str, list[int]]:
    return await shop.counts.aio({"a": [1]})


print(same == order, same.from_, kind, shape, divided, number + 1, text, answer, asyncio.run(later()), shop.program)
"""
USE_OF_ARGUMENTS = """
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy
import types_of_shop as shop


@dataclass(frozen=True)
class Mine:
    item: str
    count: int
    tags: tuple[str, ...]
    from_: str
    note: str | None = None


mine = Mine("tea", 1, ("green",), "here")
order = shop.Order("tea", 3, ["green"], "here")
data: dict[str, Any] = {"item": "tea", "count": 1, "tags": (), "from": "here"}
orders: list[shop.Order] = [order]
sequence: Sequence[shop.Order] = (order,)
print(shop.same(mine).count, shop.same(data).tags, shop.deeper({"value": 1}).value)
print(shop.many(orders), shop.many([order, mine, data]), shop.many((order, mine)), shop.many(sequence), shop.many(one for one in orders),
      shop.many([data] * 2, {"a": orders, "b": (mine,), "c": [data]}), shop.many({"a": order}.values()))
print(shop.many([], None, [[1], (2,), range(3), {4}, deque([5]), numpy.array([6])]), shop.many([], None, numpy.zeros((2, 2), int)))
"""
USE_OF_LOAD = """
from __future__ import annotations

from typing import TYPE_CHECKING

import tenon

if TYPE_CHECKING:
    import types_of_shop

with tenon.load("types_of_shop.tn") as untyped:
    print(untyped.pair(1))
shop: types_of_shop.Program = tenon.load("types_of_shop.tn")


def many(program: types_of_shop.Program) -> int:
    return program.many([program.Order("tea", 3, ["green"], "here")])


number: int = many(shop) + many(tenon.load("types_of_shop.tn"))
answer: str = shop.Counter.start().say("hello")
print(number, answer, shop.functions["pair"](2), repr(shop.Shape)[:12])
again: types_of_shop.Program
with tenon.load("types_of_shop.tn") as again:
    print(again.nothing())
"""
MISUSE = """
from __future__ import annotations

import tenon
import types_of_shop as shop

program: shop.Program = tenon.load("types_of_shop.tn")
known: tenon.Program = program
shop.same(3)
shop.kind_of("colour", 2)
wrong: int = shop.larger("Small")
shop.many("tea")
shop.many({"a": 1})
shop.many([3])
shop.many([], None, ["ab"])
shop.many([], None, [b"ab"])
shop.many([], None, {1: 2})
shop.many([], {"a": 3})
program.no_such_function()
known.no_such_function()
program.pair("n")
program.Order("tea")
program.Counter.start().no_such_method()
shop.program.no_such_function()
known.no_such_function()
"""
NAMES = """
struct Any { self: i32, int: i32 }
struct Protocol { str: String, list: List<Boolean> }
type Literal = "a" | "b"
enum Union { Dict(i32), List(f64) }
struct Optional { value: i32? }
fn tenon(events: i32) -> i32 { events }
fn program(n: i32) -> i32 { n }
fn same(self: i32, aio: String) -> i32 { self }
fn dataclass(a: Any, p: Protocol, l: Literal, u: Union) -> Optional { Optional { value: Some(a.self) } }
fn dict(m: Map<i32>, t: (i32, Literal)) -> Map<i32> { m }
fn bool(n: i32) -> Result<i32, Failure> { Ok(n) }
fn import(from: i32) -> i32 { from }
fn import_(n: i32) -> i32 { 2 * n }
agent float { fn turn(ctx: Context, input: String) -> String { input } }
agent class { fn turn(ctx: Context, input: String) -> String { input } }
"""
USE_OF_NAMES = """
import tenon
import names_of_python as names
from names_of_python import class_, import_

n: int = names.tenon(events=1) + names.same(self=2, aio="x")
run: tenon.Run[int] = names.tenon.start(events=4)
found: names.Optional = names.dataclass(names.Any(5, 6), names.Protocol("s", [True]), "a", names.UnionDict(3))
value: int | None = found.value
counts: dict[str, int] = names.dict({"a": 1}, (1, "b"))
result: tenon.Ok[int] | tenon.Err = names.bool(7)
chat: tenon.Conversation[str] = names.float.start()
program: tenon.Program = names.program
print(n, run.result(), value, counts, result, chat.say("hi"), names.same.start(8, aio="", events=False).result(),
      names.program.functions["program"](9))
print(import_(from_=3), names.import_.start(4).result(), names.import__(5), class_.start().say("ho"), getattr(names, "import")(6),
      names.program.import_(7), names.program.import__(8), getattr(names.program, "import")(9), "import_" in dir(names.program))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "types_of_shop.tn").write_text(TYPES)
    return tmp_path


def python(folder, *arguments):
    return subprocess.run([sys.executable, *map(str, arguments)], cwd=folder, text=True, capture_output=True, timeout=300,
                          check=False)


def mypy(folder, *arguments):
    """With a cache that the tests share, as reading the standard library takes most of the time."""
    return python(folder, "-m", "mypy", "--strict", "--cache-dir", folder.parent / "mypy", *arguments)


def test_stubs_pass_mypy(folder):
    written = python(folder, "-m", "tenon", "stubs", "types_of_shop.tn")
    assert written.returncode == 0, written.stderr
    stub = (folder / "types_of_shop.pyi").read_text()
    assert '"""What is ordered."""' in stub and '"""Its name."""' in stub and '"""Gives the order back.' in stub
    (folder / "use.py").write_text(USE)
    (folder / "misuse.py").write_text(MISUSE)
    checked = mypy(folder, "use.py", "types_of_shop.pyi")
    assert checked.returncode == 0, checked.stdout
    wrong = mypy(folder, "misuse.py")
    lines = MISUSE.splitlines()
    first = lines.index("shop.same(3)") + 1
    found = {int(line.split(":")[1]) for line in wrong.stdout.splitlines() if ": error:" in line}
    assert found == set(range(first, len(lines) + 1)), wrong.stdout


@pytest.mark.parametrize(("use", "printed"), [
    (USE_OF_ARGUMENTS, "1 [] 2\n1 3 2 1 1 2 1\n0 0\n"),
    (USE_OF_LOAD, "(1, 'n')\n2 hello (2, 'n') typing.Union\nNone\n"),
], ids=["arguments", "load"])
def test_what_is_accepted_passes_mypy(folder, use, printed):
    assert python(folder, "-m", "tenon", "stubs", "types_of_shop.tn").returncode == 0
    (folder / "use.py").write_text(use)
    checked = mypy(folder, "use.py")
    assert checked.returncode == 0, checked.stdout
    done = python(folder, "-c", "import tenon; tenon.install_import_hook(); import use")
    assert (done.stdout, done.stderr) == (printed, "")


def test_names_of_python_are_names_of_a_program_too(tmp_path):
    (tmp_path / "names_of_python.tn").write_text(NAMES)
    (tmp_path / "use.py").write_text(USE_OF_NAMES)
    written = python(tmp_path, "-m", "tenon", "stubs", "names_of_python.tn")
    assert written.returncode == 0, written.stderr
    checked = mypy(tmp_path, "use.py", "names_of_python.pyi")
    assert checked.returncode == 0, checked.stdout
    used = python(tmp_path, "-c", "import tenon; tenon.install_import_hook(); import use")
    assert used.stdout == "3 4 5 {'a': 1} Ok(7) hi 8 9\n3 4 10 ho 6 7 16 9 True\n", used.stdout + used.stderr


@CHECKED_ONCE
def test_the_package_passes_mypy(folder):
    """Except `tenon.ray`, which is checked in tests/ray, where Ray is installed."""
    checked = mypy(folder, "-p", "tenon", "--exclude", "/tenon/ray/")
    assert checked.returncode == 0, checked.stdout


@CHECKED_ONCE
def test_the_sources_pass_ruff():
    root = pathlib.Path(__file__).resolve().parents[2]
    checked = python(root, "-m", "ruff", "check", "--no-cache", "--config", "python/pyproject.toml", "python", "tools")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_stubs_of_a_wrong_program_are_an_error(tmp_path):
    (tmp_path / "wrong.tn").write_text("fn main() -> i32 { y }")
    done = python(tmp_path, "-m", "tenon", "stubs", "wrong.tn")
    assert done.returncode == 1 and "wrong.tn:1:20: error" in done.stderr
    assert python(tmp_path, "-m", "tenon", "stubs", "absent.tn").returncode == 1


def test_programs_are_imported(folder):
    (folder / "use.py").write_text("import tenon\ntenon.install_import_hook(externs={'other': print})\n" + USE)
    done = python(folder, "use.py")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("True here billing ShapeCircle(value=2.0) Ok(2) 5 n hello {'a': [1]} <tenon program")
    done = python(folder, "-c", "import tenon\ntenon.install_import_hook()\nimport no_such_program")
    assert "ModuleNotFoundError" in done.stderr
    (folder / "wrong.tn").write_text("fn main() -> i32 { y }")
    done = python(folder, "-c", "import tenon\ntenon.install_import_hook()\nimport wrong")
    assert "cannot find `y`" in done.stderr


def test_pydantic_accepts_the_types(folder):
    shop = tenon.load(folder / "types_of_shop.tn")
    order = pydantic.TypeAdapter(shop.Order).validate_python(
        {"item": "tea", "count": "3", "tags": ["green"], "from_": "here"})
    assert order == shop.Order("tea", 3, ["green"], "here") and order.note is None
    assert shop.same(order) == order
    with pytest.raises(pydantic.ValidationError):
        pydantic.TypeAdapter(shop.Order).validate_python({"item": "tea"})
    assert pydantic.TypeAdapter(shop.Kind).validate_python("billing") == "billing"
    with pytest.raises(pydantic.ValidationError):
        pydantic.TypeAdapter(shop.Kind).validate_python("colour")
    assert pydantic.TypeAdapter(shop.Size).validate_python("Small") == "Small"
    shapes = pydantic.TypeAdapter(list[shop.Shape])
    assert shapes.validate_python([{"value": 2}, {"value_1": 1, "value_2": 2}, shop.ShapePoint()]) == [
        shop.ShapeCircle(2), shop.ShapeBox(1, 2), shop.ShapePoint()]
    assert pydantic.TypeAdapter(shop.Node).dump_python(shop.deeper(shop.Node(1))) == {
        "value": 2, "next": {"value": 1, "next": None}}
    result = pydantic.TypeAdapter(tenon.Ok[int] | tenon.Err)
    assert result.validate_python(shop.divided(4, 2)) == tenon.Ok(2)
    assert result.validate_python({"value": 2}) == tenon.Ok(2)
    assert "division" in result.dump_python(shop.divided(4, 0))["message"]


def test_a_pydantic_model_is_an_argument(folder):
    class Order(pydantic.BaseModel):
        item: str
        count: int
        tags: list[str]
        from_: str
        note: str | None = None

    shop = tenon.load(folder / "types_of_shop.tn")
    assert shop.same(Order(item="tea", count=1, tags=[], from_="here")) == shop.Order("tea", 1, [], "here")


def test_results_are_ok_or_err(folder):
    shop = tenon.load(folder / "types_of_shop.tn")
    match shop.divided(4, 0):
        case tenon.Err(message) as err:
            assert "division" in message and err.kind == "Arithmetic" and "types_of_shop.tn" in err.place
        case other:
            pytest.fail(repr(other))


def test_errors_can_be_pickled():
    import pickle

    with pytest.raises(tenon.ProgramError) as raised:
        tenon.load("x.tn", text="fn main() -> i32 { y }")
    again = pickle.loads(pickle.dumps(raised.value))
    assert (again.kind, again.place, str(again)) == (raised.value.kind, raised.value.place, str(raised.value))


def test_the_import_of_the_package_needs_little():
    slow = ("asyncio", "contextvars", "dataclasses", "enum", "inspect", "math", "queue", "typing")
    done = python(pathlib.Path("/"), "-c", "import sys; before = set(sys.modules); import tenon; "
                  f"print(*sorted((set(sys.modules) - before) & set({slow!r})))")
    assert (done.returncode, done.stdout.strip()) == (0, ""), done.stdout + done.stderr


def test_names_that_begin_with_a_keyword_are_kept(tmp_path):
    text = "struct S { note: i32, is: i32, island: i32, iso: i32 }\nextern fn f(s: S) -> S\nfn g(s: S) -> S { f(s) }\n" \
           "agent A { fn turn(ctx: Context, input: S) -> S { input } }"
    with tenon.load(tmp_path / "s.tn", text=text, externs={"f": lambda s: s}) as program:
        value = program.S(note=1, is_=2, island=3, iso=4)
        assert program.g(value) == value
        assert program.A.start().say(value) == value


def test_names_that_are_keywords_of_python_stay_apart(tmp_path):
    text = "struct Route { from: i32, from_: i32 }\nfn swap(r: Route) -> Route { Route { from: r.from_, from_: r.from } }"
    with tenon.load(tmp_path / "route.tn", text=text) as program:
        swapped = program.swap(program.Route(1, 2))
        assert (swapped.from_, swapped.from__) == (2, 1)
        assert program.swap({"from": 3, "from_": 4}) == program.Route(4, 3)


def test_a_case_and_a_struct_of_one_name_stay_apart(tmp_path):
    text = "struct ShapeCircle { r: f64 }\nenum Shape { Circle(f64), Point }\nfn shape(s: ShapeCircle) -> Shape { Shape::Circle(s.r) }\n" \
           "fn radius(s: Shape) -> f64 { match s { Shape::Circle(r) => r, Shape::Point => 0.0 } }"
    with tenon.load(tmp_path / "shape.tn", text=text) as program:
        made = program.shape(program.ShapeCircle(2.5))
        assert made == program.ShapeCircle_(2.5) and program.radius(made) == 2.5
        assert program.ShapeCircle(r=1.0).r == 1.0


def test_values_are_pickled_and_copied(folder):
    import copy
    import pickle

    shop = tenon.load(folder / "types_of_shop.tn")
    order = shop.Order("tea", 3, ["green"], "here")
    shapes = [shop.ShapePoint(), shop.ShapeBox(1, 2), shop.deeper(shop.Node(1))]
    assert pickle.loads(pickle.dumps([order, shapes])) == [order, shapes]
    assert copy.deepcopy(order) == order == copy.copy(order) and copy.deepcopy(order).tags is not order.tags
    (folder / "order.pickle").write_bytes(pickle.dumps([order, shapes[1]]))
    # A process that has not loaded the program, and one that loads it later.
    done = python(folder, "-c", "import pickle, tenon\n"
                  "order, box = pickle.load(open('order.pickle', 'rb'))\n"
                  "print(order, pickle.loads(pickle.dumps(order)) == order)\n"
                  "shop = tenon.load('types_of_shop.tn')\n"
                  "print(shop.same(order), shop.grown(box))\n"
                  "order, box = pickle.load(open('order.pickle', 'rb'))\n"
                  "print(type(order) is shop.Order, type(box) is shop.ShapeBox)")
    assert done.returncode == 0, done.stderr
    shown = "Order(item='tea', count=3, tags=['green'], from_='here', note=None)"
    assert done.stdout == f"{shown} True\n{shown} ShapeBox(value_1=1.0, value_2=2.0)\nTrue True\n"


def test_copies_have_the_class_of_their_program(folder):
    import copy

    first = tenon.load(folder / "types_of_shop.tn")
    second = tenon.load(folder / "types_of_shop.tn")
    assert type(copy.deepcopy(first.Node(1))) is first.Node and type(copy.copy(second.Node(1))) is second.Node


def test_pydantic_checks_refinements(tmp_path):
    text = ("type Percent = i32 in 0..=100\ntype Code = String matching \"[A-Z]{3}\"\n"
            "struct Rate { percent: Percent, code: Code? }\nfn same(rate: Rate) -> Rate { rate }")
    with tenon.load(tmp_path / "rates.tn", text=text) as program:
        rate = pydantic.TypeAdapter(program.Rate)
        assert rate.validate_python({"percent": 7, "code": "ABC"}) == program.Rate(7, "ABC")
        for wrong in ({"percent": 101}, {"percent": -1}, {"percent": 7, "code": "ABCD"}):
            with pytest.raises(pydantic.ValidationError):
                rate.validate_python(wrong)
        assert rate.json_schema()["properties"]["percent"]["maximum"] == 100
        assert pydantic.TypeAdapter(program.Percent).validate_python("5") == 5
        assert program.same(program.Rate(7)) == program.Rate(7)


def test_a_value_that_is_nested_too_deep_is_an_error_of_its_argument(folder):
    shop = tenon.load(folder / "types_of_shop.tn")
    node = shop.Node(1)
    for _ in range(2_000):
        node = shop.Node(1, node)
    with pytest.raises(tenon.InputError, match="argument `node` is nested more than 1000 levels deep"):
        shop.deeper(node)


CASES = """
type Percent = i32 in 0..=100
type Large = i32 in 5..
enum Shape { Circle(f64), Square(f64), Empty, Blank, Box(f64, Percent), Within(Shape?), Many(List<Shape>), Both(i32?, i32?) }
struct Drawing { shape: Shape, sizes: List<i32>, pair: (i32, Percent), large: Large, count: i64, named: Map<Shape> }
fn same(drawing: Drawing) -> Drawing { drawing }
"""


@pytest.fixture
def drawings(tmp_path):
    with tenon.load(tmp_path / "drawings.tn", text=CASES) as program:
        yield program


def test_values_keep_their_case_through_pydantic(drawings):
    shapes = pydantic.TypeAdapter(drawings.Shape)
    square = drawings.ShapeSquare(2.0)
    written = [
        (drawings.ShapeCircle(2.0), {"Circle": 2.0}), (square, {"Square": 2.0}), (drawings.ShapeEmpty(), "Empty"),
        (drawings.ShapeBlank(), "Blank"), (drawings.ShapeBox(1.0, 3), {"Box": [1.0, 3]}), (drawings.ShapeWithin(None), {"Within": None}),
        (drawings.ShapeWithin(square), {"Within": {"Square": 2.0}}),
        (drawings.ShapeMany([drawings.ShapeBlank(), square]), {"Many": ["Blank", {"Square": 2.0}]}),
        (drawings.ShapeBoth(None, 3), {"Both": [None, 3]})]
    for value, expected in written:
        assert shapes.dump_python(value, mode="json") == expected
        for adapter in (shapes, pydantic.TypeAdapter(type(value))):
            assert adapter.validate_json(adapter.dump_json(value)) == value
            assert adapter.validate_json(adapter.dump_json(value, exclude_none=True)) == value
            assert adapter.validate_python(adapter.dump_python(value)) == value
            assert adapter.validate_python(value) is value

    class Page(pydantic.BaseModel):
        shape: drawings.Shape
        square: drawings.ShapeSquare

    page = Page(shape=square, square=square)
    assert Page.model_validate_json(page.model_dump_json()) == page


@pytest.mark.parametrize("wrong", [
    {"zzz": 1}, {"value": 1.0}, {}, "Circle", "Triangle", {"Empty": []}, {"Box": [1.0]}, {"Box": [1.0, 101]}, {"Circle": "round"},
    {"Circle": 1.0, "Square": 1.0}, 5, None])
def test_pydantic_refuses_what_is_no_case(drawings, wrong):
    with pytest.raises(pydantic.ValidationError):
        pydantic.TypeAdapter(drawings.Shape).validate_python(wrong)


def test_cases_have_a_json_schema(drawings):
    described = pydantic.TypeAdapter(drawings.Shape).json_schema()["$defs"]
    assert described["ShapeEmpty"]["const"] == "Empty"
    assert described["ShapeSquare"]["properties"] == {"Square": {"title": "Value", "type": "number"}}
    assert len(described["ShapeBox"]["properties"]["Box"]["prefixItems"]) == 2
    assert {"$ref": "#/$defs/ShapeSquare"} in described["ShapeWithin"]["properties"]["Within"]["anyOf"]


def test_pydantic_checks_the_range_of_integers(drawings):
    adapter = pydantic.TypeAdapter(drawings.Drawing)
    given = {"shape": "Empty", "sizes": [1], "pair": (1, 2), "large": 7, "count": 5, "named": {"a": {"Square": 2}}}
    value = adapter.validate_python(given)
    assert value.named == {"a": drawings.ShapeSquare(2.0)} and drawings.same(value) == value
    for field, wrong in {"sizes": [2**31], "pair": (-2**31 - 1, 2), "large": 2**31, "count": 2**63,
                         "shape": {"Both": [2**31, 1]}}.items():
        with pytest.raises(pydantic.ValidationError):
            adapter.validate_python({**given, field: wrong})
    with pytest.raises(pydantic.ValidationError):
        pydantic.TypeAdapter(drawings.Large).validate_python(2**31)
    assert drawings.Drawing.__annotations__["sizes"] == list[int]
