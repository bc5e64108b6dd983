"""What the package needs of `typing` while it is imported: importing that takes as long as everything else here. Type checkers
see `typing` itself."""
from __future__ import annotations

TYPE_CHECKING = False

if TYPE_CHECKING:
    from typing import Any as Any
    from typing import Generic as Generic
    from typing import TypeVar as TypeVar
    from typing import cast as cast
    from typing import overload as overload
else:
    from types import GenericAlias

    class Generic:
        """A base class that can be subscribed, such as `Run[int]`."""

        __slots__ = ()
        __class_getitem__ = classmethod(GenericAlias)

    Any = object

    def TypeVar(name, **_):
        return name

    def cast(_, value):
        return value

    def overload(function):
        return function
