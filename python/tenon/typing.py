"""Types for annotations, as the stubs of programs use them (`tenon stubs`). The package itself does not import this."""
from __future__ import annotations

from collections.abc import Iterator, Set, ValuesView
from typing import Any, Protocol, TypeVar, Union

Item = TypeVar("Item", covariant=True)


class Items(Protocol[Item]):
    """A sequence. Not `str` and `bytes`, which do not say of each object whether they contain it, and not `dict`, which does not
    count."""

    def __contains__(self, value: object, /) -> bool: ...

    def __getitem__(self, index: int, /) -> Item: ...

    def __iter__(self) -> Iterator[Item]: ...

    def __len__(self) -> int: ...

    @property
    def count(self) -> object: ...


class Array(Protocol[Item]):
    """An array of NumPy, or what is like one."""

    def __iter__(self) -> Iterator[Item]: ...

    def tolist(self) -> Any: ...


ListLike = Union[Items[Item], Array[Item], Set[Item], ValuesView[Item], Iterator[Item]]
"""What is accepted as an argument of the type `List<T>`."""
