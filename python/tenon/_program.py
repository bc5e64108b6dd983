"""Programs: their functions, agents and types as attributes."""
from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Mapping
from types import ModuleType

from . import _core
from . import _json as json
from ._checks import optional_text_of, path_of, text_of
from ._engine import Engine
from ._errors import Error, Problem, ProgramError, problems_of
from ._externs import bind, check, in_terms_of_python, signature_of
from ._marks import named
from ._models import ModelFunction
from ._run import Conversation, Run, flags_of
from ._types import Types, attribute
from ._typing import TYPE_CHECKING, Any, TypeVar, cast

if TYPE_CHECKING:
    import inspect

    Externs = Iterable[Callable[..., Any]] | Mapping[str, Callable[..., Any]] | ModuleType


Self = TypeVar("Self", bound="Program")


class _NextRound:
    """Lets the event loop do something else first: a loop over quick calls would keep it from everything else."""

    __slots__ = ()

    def __await__(self) -> Generator[None, None, None]:
        yield


_NEXT_ROUND = _NextRound()


class Function(_core.Function):
    """A function of a program, which is called as one of Python."""

    def __init__(self, program: Program, described: Mapping[str, Any]) -> None:
        self._program = program
        self.described = described
        self.result: int = described["result"]
        engine = program.engine
        parameters = [(attribute(one["name"]), one["type"]) for one in described["parameters"]]
        self._takes_events = any(name == "events" for name, _ in parameters)
        super().__init__(program._core, described["name"], program._type_list, parameters, described["result"], engine.waiting,
                         engine.before_wait)
        self.__name__ = self.__qualname__ = described["name"]
        self.__module__ = program.types.module
        self.__doc__ = described["documentation"] or None

    @property
    def __signature__(self) -> inspect.Signature:
        import inspect

        types = self._program.types
        parameters = [(attribute(one["name"]), one["type"]) for one in self.described["parameters"]]
        has_default = types.defaults([index for _, index in parameters])
        return inspect.Signature(
            [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=types.annotation(index),
                               default=None if is_optional else inspect.Parameter.empty)
             for (name, index), is_optional in zip(parameters, has_default)],
            return_annotation=types.annotation(self.described["result"]))

    async def aio(self, /, *arguments: Any, **named_arguments: Any) -> Any:
        """Calls the function without blocking the event loop."""
        engine = self._program.engine
        future = engine.attach().create_future()
        number = engine.core.begin(self, arguments, named_arguments, future)
        try:
            if number == 0:  # done already
                await _NEXT_ROUND
            return await future
        except BaseException:
            if future.cancelled():
                engine.abandon(number)
            raise

    def start(self, /, *arguments: Any, **named_arguments: Any) -> Run[Any]:
        """Starts the function as a run of its own. `events=False`: `Run.events` and `Run.prompts` have nothing. A function that has
        an argument of this name always has them."""
        program = self._program
        events = True if self._takes_events else named_arguments.pop("events", True)
        program.engine.continue_runs()
        with program.engine.taking_here():
            core = self._start(arguments, named_arguments, flags_of(events))
            return Run(core, program.engine, has_events=events, program=program)

    def __repr__(self) -> str:
        return f"<tenon function {self.__name__}{self.__signature__}>"


class Agent:
    """An agent of a program."""

    def __init__(self, program: Program, described: Mapping[str, Any]) -> None:
        self._program = program
        self.described = described
        self.result: int = described["result"]
        self.__name__ = described["name"]
        self.__doc__ = described["documentation"] or None

    def start(self, *, events: bool = True) -> Conversation[Any]:
        """Starts a conversation, which waits for its first prompt."""
        program = self._program
        with program.engine.taking_here():
            core = program._core.start_agent(self.__name__, flags_of(events))
            return Conversation(core, program.engine, has_events=events, program=program, value_type=(program.types, self.result))

    def __repr__(self) -> str:
        return f"<tenon agent {self.__name__}>"


class Program:
    """A program that was loaded. Its functions, agents and types are attributes, of which type checkers know by its stub."""

    def __init__(self, engine: Engine, core: Any, path: str, externs: Mapping[str, Callable[..., Any]],
                 is_strict: bool = True, binds: bool = True) -> None:
        description = json.loads(core.describe())
        self.engine = engine
        self._core = core
        self._path = path
        self._externs = externs
        self.types = Types(description["types"], os.path.basename(path).partition(".")[0])
        self._type_list = _core.TypeList(self.types.described, self.types.classes)
        self.warnings: tuple[Problem, ...] = problems_of(json.loads(core.warnings()))
        self.functions = {one["name"]: Function(self, one) for one in description["functions"]}
        self.agents = {one["name"]: Agent(self, one) for one in description["agents"]}
        callable_members = {**self.agents, **self.functions}
        self._members: dict[str, Any] = {**self.types.named, **{attribute(name): one for name, one in callable_members.items()}}
        """Types, agents and functions by the names that Python can use for them."""
        self._declared: dict[str, Mapping[str, Any]] = {one["name"]: one for one in description["externs"]}
        for name, declared in self._declared.items():
            if name in engine.externs:
                check(declared, externs[name], self.types)
        if binds:
            self._bind(self._type_list)
        declared_names = set(self._declared)
        for name in externs if is_strict else ():
            if name not in declared_names:
                raise ProgramError(f"the program declares no extern `{name}`{_suggest(name, declared_names)}", "Program")

    def _bind(self, types: Any) -> None:
        """Gives the functions that perform externs their types."""
        for name, declared in self._declared.items():
            if name in self.engine.externs:
                bind(self.engine.externs[name], declared, types)

    def start(self, name: str, /, *arguments: Any, **named_arguments: Any) -> Run[Any]:
        """Starts a function or an agent by its name."""
        text_of(name, "name")
        if name in self.agents:
            return self.agents[name].start(*arguments, **named_arguments)
        if name not in self.functions:
            raise Error(f"cannot find `{name}` in the program{_suggest(name, [*self.functions, *self.agents])}", "Usage")
        return self.functions[name].start(*arguments, **named_arguments)

    def resume(self, name: str, *, events: bool = True) -> Conversation[Any]:
        """Continues a run of the program's store, with the program that it was started with."""
        text_of(name, "name")
        self.engine.continue_runs()
        with self.engine.taking_here():
            return self.run_of(self.engine.core.resume(name, flags_of(events)), events)

    def run_of(self, core: Any, has_events: bool) -> Conversation[Any]:
        """A run of this program."""
        title = core.title()
        known = self.functions.get(title) or self.agents.get(title)
        return Conversation(core, self.engine, has_events=has_events, program=self,
                            value_type=None if known is None else (self.types, known.result))

    def load_changed(self, text: str) -> Loaded:
        """Another text as if this program's file contained it, for `Run.replay` and `Run.fork`. It has the same engine, and
        the functions that perform externs get the structs of this program, with its fields."""
        core = self.engine.core.load(self._path, text_of(text, "text"))
        changed = Program(self.engine, core, self._path, self._externs, is_strict=False, binds=False)
        for name in self._declared.keys() & changed._declared.keys() & self.engine.externs.keys():
            if signature_of(self._declared[name], self.types) != signature_of(changed._declared[name], changed.types):
                raise ProgramError(f"the changed program declares the extern `{name}` with other types, and there is one function "
                                   "for both", "Program")
        self._bind(_core.TypeList(self.types.described, self.types.classes, is_shared=True))
        return cast("Loaded", changed)

    def graph(self, form: str = "svg") -> str:
        """The agents as graphs of blocks: `"svg"`, `"dot"` or `"json"`. The picture is empty if there are no blocks."""
        graph: str = self._core.graph(text_of(form, "form"))
        return graph

    def close(self) -> None:
        """Stops the runs; recorded ones can be resumed. Without it they are stopped when Python ends."""
        self.engine.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    if not TYPE_CHECKING:
        def __getattr__(self, name: str) -> Any:
            if name.startswith("_") or "_members" not in self.__dict__:
                raise AttributeError(name)
            for known in (self._members, self.functions, self.agents):
                if name in known:
                    return known[name]
            raise AttributeError(f"cannot find `{name}` in the program{_suggest(name, dir(self))}")

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self._members]

    def _repr_html_(self) -> str:
        from ._notebook import html_of_program

        return html_of_program(self)

    def __repr__(self) -> str:
        return f"<tenon program {self.types.module}: {', '.join([*self.functions, *self.agents])}>"


if TYPE_CHECKING:
    class Loaded(Program, Any):  # type: ignore[misc]
        """A program of which nothing is known. It is assigned to any class of a stub."""
else:
    Loaded = Program


def _suggest(name: str, names: Iterable[str]) -> str:
    import difflib

    near = difflib.get_close_matches(name, list(names), 1)
    return f"; did you mean `{near[0]}`?" if near else ""


def load(path: str | os.PathLike[str], *, text: str | None = None, model: str | ModelFunction | None = None,
         externs: Externs = (), store: str | os.PathLike[str] | None = None, secrets: Mapping[str, str] | None = None,
         **options: Any) -> Loaded:
    """Loads a program, with an engine of its own.

    `text` is the program, as if the file contained it. `model` is a model as `tenon run --model` has it, such as
    `"script:FILE"`, or a function: plain, `async`, or an async generator of the pieces of an answer. `externs` are the
    functions that perform the program's externs, or a module with functions that `tenon.extern` marks. `store` is where
    runs are recorded: a file or a URL. `secrets` has what is otherwise read from environment variables, by their names: keys
    of models, such as `OPENAI_API_KEY`, and `TENON_SECRET_KEY`, the key of the store's secrets. The other options are those
    of `tenon run`, with underscores: `temperature=0.2`, `memory_mb=64`.
    """
    return load_with(path, text=text, model=model, externs=externs, store=store, secrets=secrets, **options)


def load_with(path: str | os.PathLike[str], *, text: str | None = None, model: str | ModelFunction | None = None,
              externs: Externs = (), store: str | os.PathLike[str] | None = None, is_strict: bool = True,
              **options: Any) -> Loaded:
    """As `load`; `is_strict`: whether the program has to declare each of the externs."""
    file = path_of(path, "path")
    text = optional_text_of(text, "text")
    functions = named(externs)
    engine = Engine({"store": store, **options}, functions, model)
    try:
        core = engine.core.load(file, text)
    except ProgramError as error:
        raise in_terms_of_python(error, functions) from None
    return cast("Loaded", Program(engine, core, file, functions, is_strict))


def load_description(path: str | os.PathLike[str]) -> Program:
    """A program that is only looked at: it has no model and no externs."""
    file = path_of(path, "path")
    engine = Engine({}, {}, None)
    return Program(engine, engine.core.compile(file), file, {})


def resume(store: str | os.PathLike[str], name: str, *, events: bool = True, externs: Externs = (),
           model: str | ModelFunction | None = None, secrets: Mapping[str, str] | None = None,
           **options: Any) -> Conversation[Any]:
    """Continues a run of a store, with the program that the store has of it. `externs`, `model` and `secrets` as for
    `load`; without a model, that of the run."""
    text_of(name, "name")
    functions = named(externs)
    engine = Engine({"store": path_of(store, "store"), "secrets": secrets, **options}, functions, model)
    try:
        core = engine.core.load_stored(name)
        return Program(engine, core, "stored", functions).resume(name, events=events)
    except BaseException as error:
        engine.close()  # the store is free again, for another attempt
        if isinstance(error, ProgramError):
            raise in_terms_of_python(error, functions) from None
        raise


def install_import_hook(*, model: Any = None, externs: Externs = (), store: str | os.PathLike[str] | None = None,
                        **options: Any) -> None:
    """Lets `import desk` load `desk.tn`, if there is no Python module of that name. Its functions, agents and types are the
    module's, and `desk.program` is the program. The arguments are those of `tenon.load`, for all programs that are imported
    from now on; each takes the externs that it declares."""
    from ._importer import install

    install({"model": model, "externs": externs, "store": store, **options})
