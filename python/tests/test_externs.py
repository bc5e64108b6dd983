"""Python functions as externs."""
import asyncio
import contextvars
import gc
import threading
import time
import traceback
import types
import weakref

import pytest
import tenon

ORDER = {"item": "tea", "count": 2, "tags": []}
TWO = """
extern fn price(item: String) -> i32
extern(once) fn pay(cents: i32) -> String
fn both() -> i32 {
    let (a, b) = parallel { price("a"), price("b") }
    a + b
}
fn soon() -> i32 { within(50) { price("x") } catch { _ => -1 } }
fn settle() -> String { pay(3) }
"""


async def slow_price(item: str) -> int:
    await asyncio.sleep(0.02)
    return 9


def test_a_coroutine_function_is_an_extern(load_desk):
    desk = load_desk(externs={"price": slow_price})
    assert desk.total(ORDER) == 18


def test_a_blocking_function_is_called_on_another_thread(load_desk):
    threads = []

    @tenon.extern(name="price", blocking=True)
    def look_up(item: str) -> int:
        threads.append(threading.current_thread())
        return 8

    assert load_desk(externs=[look_up]).total(ORDER) == 16
    assert threads[0] is not threading.current_thread()


def test_a_quick_function_is_called_on_the_callers_thread(load_desk):
    threads = []

    def price(item):
        threads.append(threading.current_thread())
        return 1

    desk = load_desk(externs=[price])
    end = time.monotonic() + 60
    while threading.current_thread() not in threads and time.monotonic() < end:
        assert desk.total(ORDER) == 2
    assert threading.current_thread() in threads


def test_a_quick_function_is_called_on_the_engines_thread_beside_a_loop(tmp_path):
    """With the context variables of its run."""
    seen = []

    def look_up(item):
        seen.append((threading.current_thread().name, request.get()))
        return 1

    def is_called_elsewhere():
        return any(thread not in ("tenon-extern", threading.current_thread().name) for thread, _ in seen)

    async def main(program):
        request.set("call")
        end = time.monotonic() + 60
        while not is_called_elsewhere() and time.monotonic() < end:
            assert await program.one.aio("a") == 1

    request.set("load")
    with tenon.load(tmp_path / "beside.tn", text=BESIDE, externs={"look_up": look_up, "look_up_soon": no_one}) as program:
        asyncio.run(main(program))
    assert seen[0][0] == "tenon-extern"  # it is not known yet whether it is quick
    assert is_called_elsewhere()
    assert {context for _, context in seen} == {"call"}


PATIENCE_SECONDS = 30
request = contextvars.ContextVar("request", default="none")
BESIDE = """
extern fn look_up(item: String) -> i32
extern(within: 100ms) fn look_up_soon(item: String) -> i32
fn one(item: String) -> i32 { look_up(item) }
fn two() -> i32 {
    let (a, b) = parallel { look_up("a"), look_up("b") }
    a + b
}
fn soon() -> i32 { look_up_soon("a") catch failure { -1 } }
fn add(a: i32, b: i32) -> i32 { a + b }
"""


def no_one(item):
    return 0


def load_beside(tmp_path, look_up, look_up_soon=no_one):
    return tenon.load(tmp_path / "beside.tn", text=BESIDE, externs={"look_up": look_up, "look_up_soon": look_up_soon})


@pytest.mark.parametrize("how", ["runs", "threads", "asyncio", "branches"])
def test_plain_functions_block_beside_each_other(tmp_path, how):
    count = 2 if how == "branches" else 4
    together = threading.Barrier(count)

    def look_up(item):
        together.wait(PATIENCE_SECONDS)  # raises when the others do not come
        return 1

    async def with_asyncio(program):
        return sum(await asyncio.gather(*(program.one.aio("a") for _ in range(count))))

    def with_threads(program):
        found = []
        threads = [threading.Thread(target=lambda: found.append(program.one("a"))) for _ in range(count)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return sum(found)

    calls = {
        "runs": lambda program: sum(run.result() for run in [program.one.start("a") for _ in range(count)]),
        "threads": with_threads,
        "asyncio": lambda program: asyncio.run(with_asyncio(program)),
        "branches": lambda program: program.two(),
    }
    with load_beside(tmp_path, look_up) as program:
        assert calls[how](program) == count


def test_a_plain_function_that_blocks_stops_neither_the_loop_nor_other_runs(tmp_path):
    is_over = threading.Event()

    def look_up(item):
        return int(is_over.wait(PATIENCE_SECONDS))

    async def main(program):
        blocked = asyncio.ensure_future(program.one.aio("a"))
        for _ in range(10):
            assert await program.add.aio(1, 2) == 3
            assert program.add(3, 4) == 7
            await asyncio.sleep(0.005)
        assert not blocked.done()
        is_over.set()
        assert await blocked == 1

    with load_beside(tmp_path, look_up) as program:
        asyncio.run(main(program))


def test_a_plain_function_does_not_outlast_its_time(tmp_path):
    is_over = threading.Event()

    def look_up_soon(item):
        return int(is_over.wait(PATIENCE_SECONDS))

    with load_beside(tmp_path, no_one, look_up_soon) as program:
        assert [program.soon(), program.soon()] == [-1, -1]
        is_over.set()


def test_the_number_of_threads_is_bounded(tmp_path):
    running, most = 0, 0
    lock = threading.Lock()
    all_run = threading.Barrier(1)

    def look_up(item):
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        time.sleep(0.002)  # a quick one could be called on the engine's thread
        all_run.wait(30)
        with lock:
            running -= 1
        return 1

    externs = {"look_up": look_up, "look_up_soon": no_one}
    for threads in (8, 2, 1):
        running = most = 0
        all_run = threading.Barrier(threads)
        with tenon.load(tmp_path / "beside.tn", text=BESIDE, externs=externs, extern_threads=threads) as program:
            assert sum(run.result() for run in [program.one.start("a") for _ in range(8)]) == 8
        assert most == threads


def test_functions_that_must_not_leave_the_thread_do_not(tmp_path):
    threads = set()

    def look_up(item):
        threads.add(threading.current_thread())
        return 1

    for externs, options in (({"look_up": look_up}, {"extern_threads": 0}),
                             ([tenon.extern(blocking=False)(look_up)], {})):
        with tenon.load(tmp_path / "one.tn", text='extern fn look_up(item: String) -> i32\nfn one() -> i32 { look_up("a") }',
                        externs=externs, **options) as program:
            assert program.one() == 1
    assert threads == {threading.current_thread()}


def test_a_call_that_waits_for_a_thread_is_not_made_after_its_cancellation(tmp_path):
    made = []
    begun, released = threading.Event(), threading.Event()

    def look_up(item):
        made.append(item)
        begun.set()
        released.wait(10)
        return 1

    with tenon.load(tmp_path / "beside.tn", text=BESIDE, externs={"look_up": look_up, "look_up_soon": no_one}, extern_threads=1) as program:
        first = program.one.start("first")
        first.wait(0.01)
        assert begun.wait(10)
        second = program.one.start("second")
        assert second.wait(0.01) == "running"
        second.cancel("enough")
        assert second.wait() == "cancelled"
        released.set()
        assert first.result() == 1
    assert made == ["first"]


def test_a_call_has_an_effect_key_where_runs_are_recorded(load_desk, tmp_path):
    keys = []

    def price(call: tenon.Call, item: str) -> int:
        keys.append(call.effect_key)
        return 1

    load_desk(externs=[price]).total(ORDER)
    load_desk(externs=[price], store=tmp_path / "runs.db").total(ORDER)
    assert keys[0] == "" and keys[1] != ""


def test_a_wrong_result_fails_the_call(load_desk):
    with pytest.raises(tenon.RunFailed, match="i32") as raised:
        load_desk(externs={"price": lambda item: "seven"}).total(ORDER)
    assert raised.value.kind == "ToolFailed"


def test_externs_are_checked_before_the_start(load_desk):
    def price(item: str, other: int) -> int:
        return 1

    def price_of(item: int) -> int:
        return 1

    with pytest.raises(tenon.ProgramError, match="missing a required argument: 'other'"):
        load_desk(externs=[price])
    with pytest.raises(tenon.ProgramError, match="the parameter `item` of `.*price_of` is `int`, expected `String`"):
        load_desk(externs={"price": price_of})
    with pytest.raises(tenon.ProgramError, match="price"):
        load_desk(externs=[])
    with pytest.raises(tenon.ProgramError, match="declares no extern `prize`; did you mean `price`"):
        load_desk(externs={"price": lambda item: 1, "prize": lambda item: 1})


def test_an_extern_cannot_use_its_program(load_desk):
    def price(item):
        return desk.half(2)

    desk = load_desk(externs=[price])
    with pytest.raises(tenon.RunFailed, match="cannot use the engine"):
        desk.total(ORDER)


@pytest.mark.parametrize("calls", [1, 50])
def test_only_a_function_that_is_marked_can_use_its_program(load_desk, calls):
    def price(item):
        return desk.half(2) if item == "tea" else 1

    desk = load_desk(externs=[tenon.extern(blocking=True)(price)])
    assert desk.total(ORDER) == 100
    desk = load_desk(externs={"price": lambda item: price(item)})
    for _ in range(calls):  # on whichever thread they are performed
        assert desk.total({"item": "milk", "count": 1, "tags": []}) == 1
    with pytest.raises(tenon.RunFailed, match="cannot use the engine"):
        desk.total(ORDER)


def test_many_threads_call(load_desk):
    desk = load_desk(externs={"price": slow_price})
    results = []
    threads = [threading.Thread(target=lambda: results.append(desk.total(ORDER))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [18] * 8


def test_values_that_contain_themselves_are_refused(tmp_path):
    text = "struct Node { value: i32, next: List<Node> }\nfn value_of(n: Node) -> i32 { n.value }"
    with tenon.load(tmp_path / "tree.tn", text=text) as program:
        node = {"value": 1, "next": []}
        node["next"].append(node)
        with pytest.raises(tenon.Error):
            program.value_of(node)
        deep = {"value": 1, "next": []}
        for _ in range(100_000):
            deep = {"value": 1, "next": [deep]}
        with pytest.raises(tenon.Error):
            program.value_of(deep)
        while deep["next"]:  # not all at once, in the recursion of the interpreter
            deep = deep["next"].pop()


def test_a_call_is_passed_although_another_annotation_cannot_be_resolved(tmp_path):
    namespace = {"tenon": tenon}
    exec("def price(call: 'tenon.Call', item: 'str') -> 'Unknown': return len(item)", namespace)
    with tenon.load(tmp_path / "shop.tn", text='extern fn price(item: String) -> i32\nfn total() -> i32 { price("tea") }',
                    externs=[namespace["price"]]) as program:
        assert program.total() == 3


def test_a_changed_program_leaves_the_externs_of_the_first_one(tmp_path):
    text = "struct Order { id: i32 }\nextern fn price(order: Order) -> i32\nfn total(order: Order) -> i32 { price(order) }"
    with tenon.load(tmp_path / "shop.tn", text=text, externs={"price": lambda order: order.id}) as program:
        changed = program.load_changed(text.replace("{ id", "{ name: String, id"))
        assert program.total({"id": 3}) == 3
        assert changed.total({"name": "a", "id": 4}) == 4
        assert program.total({"id": 5}) == 5
        with pytest.raises(tenon.ProgramError, match="other types"):
            program.load_changed("extern fn price(n: i32) -> i32")


def test_a_closed_program_lets_its_functions_go(tmp_path):
    class Shop:
        def __init__(self) -> None:
            self.program = tenon.load(tmp_path / "shop.tn", text="extern fn price() -> i32\nfn total() -> i32 { price() }",
                                      externs={"price": self.price})

        def price(self) -> int:
            return 3

    shop = Shop()
    assert shop.program.total() == 3
    kept = weakref.ref(shop)
    shop.program.close()
    del shop
    gc.collect()
    assert kept() is None


def fail_plainly(item: str) -> int:
    return {"tea": 7}[item]


async def fail_later(item: str) -> int:
    return {"tea": 7}[item]


@tenon.extern(blocking=True)
def fail_blocking(item: str) -> int:
    return {"tea": 7}[item]


@pytest.mark.parametrize("price", [fail_plainly, fail_later, fail_blocking])
def test_the_exception_of_a_function_is_the_cause_of_the_failure(load_desk, price):
    desk = load_desk(externs={"price": price})
    order = desk.Order("gold", 1, [])
    run = desk.total.start(order)
    for call in (lambda: desk.total(order), run.result, lambda: asyncio.run(desk.total.aio(order))):
        with pytest.raises(tenon.RunFailed, match="KeyError: 'gold'") as raised:
            call()
        assert type(raised.value.__cause__) is KeyError
        assert traceback.extract_tb(raised.value.__cause__.__traceback__)[-1].line == 'return {"tea": 7}[item]'


class NoPrice(Exception):
    def __init__(self, item):
        super().__init__("there is no price")
        self.item = item


def fail_with_item(item: str) -> int:
    raise NoPrice(item)


async def fail_later_with_item(item: str) -> int:
    raise NoPrice(item)


@pytest.mark.parametrize("price", [fail_with_item, fail_later_with_item])
def test_the_cause_is_an_exception_of_the_same_run(load_desk, price):
    desk = load_desk(externs={"price": price})
    runs = {item: desk.total.start(desk.Order(item, 1, [])) for item in ("tea", "gold")}
    for run in runs.values():
        run.wait()
    for item, run in runs.items():
        with pytest.raises(tenon.RunFailed, match="there is no price") as raised:
            run.result()
        assert raised.value.__cause__.item == item


def test_a_failure_of_the_program_has_no_cause(load_desk):
    desk = load_desk(externs={"price": fail_plainly})
    with pytest.raises(tenon.RunFailed):
        desk.total(desk.Order("gold", 1, []))
    with pytest.raises(tenon.RunFailed, match="division") as raised:
        desk.half(0)
    assert raised.value.__cause__ is None


def test_what_is_not_a_function_with_a_name_is_refused(load_desk):
    with pytest.raises(tenon.Error, match="extern `price` is not a function: 7"):
        load_desk(externs={"price": 7})
    with pytest.raises(tenon.Error, match="has no name.*give it as {name: function}"):
        load_desk(externs=[lambda item: 7])


def test_an_extern_without_a_function_has_a_hint_for_python(load_desk):
    def prize(item: str) -> int:
        return 7

    with pytest.raises(tenon.ProgramError, match="unresolved extern `price`") as raised:
        load_desk(externs=[prize])
    assert "externs=[function]" in str(raised.value) and "given: `prize`" in str(raised.value)
    assert "--extern" not in str(raised.value) and raised.value.place.line == 9


def seeing(blocking, seen):
    """A function that notes the context variable, on a thread of its own or in the event loop."""
    async def later(item: str) -> int:
        seen.append(request.get())
        return 7

    @tenon.extern(blocking=True)
    def blocks(item: str) -> int:
        seen.append(request.get())
        return 7

    return blocks if blocking else later


@pytest.mark.parametrize("blocking", [False, True])
def test_functions_have_the_context_variables_of_their_call(load_desk, blocking):
    seen = []

    async def one(desk, name):
        request.set(name)
        return await desk.total.aio(desk.Order("tea", 1, []))

    async def main():
        request.set("load")
        desk = load_desk(externs={"price": seeing(blocking, seen)})
        return await asyncio.gather(*(asyncio.create_task(one(desk, f"call {at}")) for at in range(3)))

    assert asyncio.run(main()) == [7, 7, 7]
    assert sorted(seen) == ["call 0", "call 1", "call 2"]


ASKING = """
extern fn price(item: String) -> i32
fn asked(item: String) -> i32 {
    let first = price(item)
    let other = ask<String>("And?")
    first + price(other)
}
agent Shop {
    fn turn(ctx: Context, input: String) -> String { "{{ price(input) }}" }
}
"""


@pytest.mark.parametrize("blocking", [False, True])
def test_functions_have_the_context_variables_of_who_continued_the_run(tmp_path, blocking):
    seen = []
    request.set("load")
    with tenon.load(tmp_path / "shop.tn", text=ASKING, externs={"price": seeing(blocking, seen)}) as program:
        request.set("start")
        run = program.asked.start("tea")
        request.set("wait")
        assert run.wait() == "asks"
        request.set("answer")
        run.answer(None, "milk")
        request.set("wait again")
        assert run.result() == 14
        chat = program.Shop.start()
        for name in ("first", "second"):
            request.set(name)
            assert chat.say("tea") == "7"
        request.set("call")
        with pytest.raises(tenon.NeedsAnswer) as raised:
            program.asked("tea")
        request.set("later")
        raised.value.run.answer(None, "milk")
        assert raised.value.run.result() == 14
        del run, chat, raised
        request.set("none")
    assert seen == ["start", "answer", "first", "second", "call", "later"]


def test_the_context_of_a_call_is_not_kept_after_it(load_desk):
    class Mark:
        pass

    marks = contextvars.ContextVar("marks")
    desk = load_desk(externs={"price": seeing(True, [])})

    def call():
        marks.set(mark := Mark())
        desk.total(desk.Order("tea", 1, []))
        return weakref.ref(mark)

    mark = contextvars.copy_context().run(call)
    gc.collect()
    assert mark() is None


@pytest.mark.parametrize("waits", [False, True])
def test_what_ends_the_interpreter_ends_the_loop_of_its_coroutine(load_desk, waits):
    async def price(item: str) -> int:
        if waits:
            await asyncio.sleep(0)
        raise SystemExit(3)

    desk = load_desk(externs=[price])
    with pytest.raises(SystemExit) as raised:
        asyncio.run(desk.total.aio(desk.Order("tea", 1, [])))
    assert raised.value.code == 3
    del raised
    gc.collect()  # asyncio reports the exception of the task now, and not in the middle of another test


DEEP = """
enum Tree { Leaf, Node(List<Tree>), Twin(Tree, i32) }
struct Link { value: i32, next: Link? }
extern fn depth_of(tree: Tree) -> i32
extern fn length_of(link: Link) -> i32
fn of_lists(n: i32) -> i32 {
    let tree = Tree::Leaf
    for i in 0..n { tree = Tree::Node([tree]) }
    depth_of(tree)
}
fn of_cases(n: i32) -> i32 {
    let tree = Tree::Leaf
    for i in 0..n { tree = Tree::Twin(tree, 1) }
    depth_of(tree)
}
fn of_structs(n: i32) -> i32 {
    let link = Link { value: 0, next: None }
    for i in 0..n { link = Link { value: i, next: Some(link) } }
    length_of(link)
}
"""


@pytest.mark.parametrize("blocking", [False, True])
@pytest.mark.parametrize(("name", "most"), [("of_lists", 500), ("of_cases", 1_000), ("of_structs", 499)])
def test_arguments_are_nested_to_the_same_depth_on_each_thread(tmp_path, name, most, blocking):
    given = tenon.extern(name="", blocking=blocking)(lambda value: 1)
    with tenon.load(tmp_path / "deep.tn", text=DEEP, externs={"depth_of": given, "length_of": given}) as program:
        call = getattr(program, name)
        assert call(most) == 1
        for count in (most + 1, 9_000, 30_000):
            with pytest.raises(tenon.RunFailed, match="an argument is nested more than 1000 levels deep"):
                call(count)


def test_methods_and_functions_in_c_are_marked(tmp_path):
    class Shop:
        def price(self, item: str) -> int:
            return len(item)

    text = ("extern fn price(item: String) -> i32\nextern fn len(item: String) -> i32\n"
            "fn both(item: String) -> i32 { price(item) * len(item) }")
    with tenon.load(tmp_path / "shop.tn", text=text, externs=[tenon.extern(Shop().price), tenon.extern(len)]) as program:
        assert program.both("tea") == 9
    assert not hasattr(Shop.price, "tenon_extern")


def test_what_marks_no_function_is_an_error(tmp_path):
    with pytest.raises(tenon.Error, match="marks functions, got 'price'; a name is given as `name=`"):
        tenon.extern("price")
    with pytest.raises(tenon.Error, match="expected True, False or None as `blocking`, got 'yes'"):
        tenon.extern(blocking="yes")
    with pytest.raises(tenon.Error, match="a text such as `openai:gpt-5-mini` or a function as `model`, got 3"):
        tenon.load(tmp_path / "x.tn", text="fn one() -> i32 { 1 }", model=3)
    tools = types.ModuleType("tools")
    tools.price = len
    with pytest.raises(tenon.Error, match="the module `tools` marks no function with `@tenon.extern`"):
        tenon.load(tmp_path / "x.tn", text="extern fn price(item: String) -> i32", externs=tools)


def test_a_nested_call_is_refused_with_the_same_words_on_each_thread(tmp_path):
    def price(item: str) -> int:
        threads.add(threading.current_thread())
        return program.five() if is_nested else 1

    threads, is_nested = set(), False
    text = "extern fn price(item: String) -> i32\nfn five() -> i32 { 5 }\nfn one() -> i32 { price(\"tea\") }"
    with tenon.load(tmp_path / "nested.tn", text=text, externs=[price]) as program:
        for _ in range(2):
            is_nested = True
            with pytest.raises(tenon.RunFailed, match=r"one that is marked with `@tenon.extern\(blocking=True\)` can"):
                program.one()
            is_nested = False
            end = time.monotonic() + 60
            while threading.current_thread() not in threads and time.monotonic() < end:  # first on another one
                program.one()
        assert len(threads) > 1
