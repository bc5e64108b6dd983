"""Programs for the tests."""
import pathlib
import sys
import weakref

import pytest
import tenon

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tests" / "support"))

DESK = """
/// What is ordered, and how often.
struct Order { item: String, count: i32, tags: List<String> }
type Percent = i32 in 0..=100
type Kind = "billing" | "technical"
enum Size { Small, Large }
enum Shape { Point, Circle(f64), Box(f64, f64) }

extern fn price(item: String) -> i32

/// The price of an order.
fn total(order: Order) -> i32 { price(order.item) * order.count }
fn twice(order: Order) -> Order {
    Order { item: order.item, count: order.count * 2, tags: order.tags }
}
fn half(n: i32) -> i32 { 100 / n }
fn rate(p: Percent) -> f64 { 0.5 }
fn kind_of(kind: Kind) -> Kind { kind }
fn larger(size: Size) -> Size { Size::Large }
fn same_shape(shape: Shape) -> Shape { shape }
fn or_ten(n: Option<i32>) -> i32 { n ?? 10 }
fn first_of(items: List<i64>) -> Option<i64> { items.get(0) }
fn counts(words: Map<i32>) -> Map<i32> { words }
fn pair(n: i32) -> (i32, String) { (n, "n") }
fn nothing() { }
fn greet(ctx: Context, name: String) -> String { "Greet {{ name }}."! }
fn classify(ctx: Context, message: String) -> Kind { message! }
fn colour() -> String {
    let colour = ask<String>("Which colour?")
    "It is {{ colour }}."
}

/// Counts its prompts.
agent Counter {
    state { count: i32 = 0 }
    fn turn(ctx: Context, input: String) -> String {
        state.count += 1
        "{{ state.count }}: {{ input }}"
    }
}
"""


def price(item: str) -> int:
    if item == "gold":
        raise ValueError("gold is not sold")
    return 7


@pytest.fixture
def load_desk(tmp_path: pathlib.Path):
    """Loads the desk with options, and closes it after the test."""
    opened = weakref.WeakSet()

    def load(**options):
        desk = tenon.load(tmp_path / "desk.tn", text=DESK, **{"externs": [price], **options})
        opened.add(desk)
        return desk

    yield load
    for desk in opened:
        desk.close()


@pytest.fixture
def desk(load_desk):
    return load_desk()


@pytest.fixture(scope="session")
def postgres():
    """A PostgreSQL server that the tests share."""
    from postgres_server import PostgresServer

    server = PostgresServer()
    yield server
    server.close()


@pytest.fixture(params=["sqlite", "postgres"])
def store(request, tmp_path):
    """The URL or the path of a new store, of each kind."""
    if request.param == "sqlite":
        return str(tmp_path / "runs.db")
    return request.getfixturevalue("postgres").new_url()
