"""Which names a text may use, and what to say about one it may not."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from telltree.data import Column, ColumnType, Schema
from telltree.errors import GrammarError, SettingsError
from telltree.grammar.text.complaint import WORDS
from telltree.grammar.text.source import Place
from telltree.likeness import alike
from telltree.operators import OPERATORS, Attribute, Operator, Type, UserFunction
from telltree.operators.expression import level_text, name_text
from telltree.operators.table import Form, is_word

_CALLED = (Form.CALL, Form.WINDOW)
_TYPE_OF = {
    ColumnType.REAL: Type.REAL_VECTOR,
    ColumnType.BOOLEAN: Type.BOOLEAN_VECTOR,
    ColumnType.CATEGORICAL: Type.CATEGORICAL_VECTOR,
}


def attribute(column: Column) -> Attribute:
    """The column as an expression."""
    return _attribute(column.name, column.type)


@lru_cache(maxsize=10_000)
def _attribute(name: str, kind: ColumnType) -> Attribute:
    return Attribute(name, _TYPE_OF[kind])


def is_reserved(name: str) -> bool:
    """Whether a name is a word of the language, and so none for symbols."""
    return name in WORDS or is_word(name)


def nearest(name: str, known: Iterable[str], likeness: float = 0.6) -> str:
    """A hint at the known name most like this one, for the end of a message; empty if none is similar."""
    close = alike(name, known, likeness=likeness)
    return f"; did you mean {close[0]}?" if close else ""


@dataclass
class Names:
    """The attributes, symbols and functions that a text may mention."""

    schema: Schema
    functions: Sequence[UserFunction] = ()
    symbols: frozenset[str] = frozenset()
    _called: dict[str, Operator | UserFunction] = field(init=False)

    def __post_init__(self) -> None:
        by_name = {function.name: function for function in self.functions}
        for name in by_name:
            if name in WORDS:
                raise SettingsError(f"a user function cannot be called {name!r}, a word of the grammar language")
        if len(by_name) < len(self.functions):
            raise SettingsError("two user functions have the same name")
        operators = {operator.name: operator for operator in OPERATORS if operator.form in _CALLED}
        self._called = {**operators, **by_name}

    def attribute(self, name: str, place: Place) -> Attribute:
        """The attribute of this name."""
        if name in self.schema:
            return attribute(self.schema[name])
        if name in self._called:
            needs = f"operands: write {name}(...)" if self._called[name].arity else f"parentheses: write {name}()"
            raise GrammarError(f"{name} needs {needs}", *place)
        known = [*map(name_text, self.schema), *self.symbols]
        what = "attribute or symbol" if self.symbols else "attribute"
        hint = nearest(name, known) or self._category(name) or nearest(name, self._called)
        raise GrammarError(f"there is no {what} called {name_text(name)}{hint}", *place)

    def _category(self, name: str) -> str:
        """A hint at the category most like an unknown name; empty if none is similar."""
        close = alike(name, (level for column in self.schema.values() for level in column.levels))
        return f"; a category is written in quotes: {level_text(close[0])}" if close else ""

    def called(self, name: str, place: Place) -> Operator | UserFunction:
        """The operator or user function that is written `name(...)`."""
        if name in self._called:
            return self._called[name]
        if name.endswith("[]"):
            windows = ", ".join(operator.example for operator in OPERATORS if operator.form is Form.WINDOW)
            raise GrammarError(f"{name[:-2]} takes no window in brackets; what does is written {windows}", *place)
        what = "a symbol" if name in self.symbols else "an attribute" if name in self.schema else "no function"
        hint = nearest(name, self._called, likeness=0.65) if what == "no function" else "; it takes no operands"
        raise GrammarError(f"{name} is {what}{hint}", *place)
