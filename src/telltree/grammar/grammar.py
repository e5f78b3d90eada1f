"""Grammars and the derivations they allow."""

import gc
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from functools import cached_property
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from telltree.checks import require_whole
from telltree.errors import GrammarError, SettingsError
from telltree.grammar.check import check_ends, check_levels, check_parameters, check_used, infer, mentions, rename_order
from telltree.grammar.default_language import fitting_definitions
from telltree.grammar.derivation import Population, expression_at
from telltree.grammar.formulas import parse_formula
from telltree.grammar.generic_language import OPERATORS, stock_definitions
from telltree.grammar.limits import check_size, most_tokens
from telltree.grammar.normal_form import Matcher, Rule, normal_form, written
from telltree.grammar.parser import parse_grammar
from telltree.grammar.printing import grammar_text
from telltree.grammar.resolve import resolve
from telltree.grammar.sizes import Sizes
from telltree.grammar.syntax_tree import Definition, lift
from telltree.logic import Attribute, Expression, UserFunction
from telltree.logic.expression import Head, RandomNumber
from telltree.panel import Panel, Schema, check_labels
from telltree.text import counted

if TYPE_CHECKING:
    from telltree.grammar.tables import Tables


# ---- Pause the garbage collector while a grammar is built.


@contextmanager
def collecting_later() -> Iterator[None]:
    """Pause the garbage collector: thousands of columns make a million small objects, none of them in a cycle, and the
    collector would scan every object of the process again and again.
    """
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


# ---- Grammars

_MOST_CODON = 2**31 - 1  # the largest value of a codon


@dataclass(frozen=True, eq=False, repr=False)
class Grammar:
    """A grammar in normal form. Immutable; equal to another if both have the same rules, weights and English.

    Build one with `Grammar.parse(text, panel)` or `Grammar.for_panel(panel)`; `str(grammar)` is text that parses to the
    same grammar, with groups written out, and needs only a schema.
    """

    start: str
    rules: tuple[Rule, ...]
    """The rules, grouped by symbol, the start symbol first."""
    schema: Schema
    """The schema of the attributes that rules mention."""
    functions: tuple[UserFunction, ...]
    """The user functions that rules mention."""
    left_out: dict[str, str]
    """Columns that selectors passed over, and why."""
    _text: str
    unsaid: str = ""
    """A remark on what `for_panel` leaves out besides columns, and why; model files do not keep it."""

    @classmethod
    @collecting_later()
    def parse(cls, text: str, data: Panel | Schema, *, functions: Sequence[UserFunction] = ()) -> "Grammar":
        """Parse a grammar; raises a GrammarError with line and column if anything is wrong with it.

        The start is the symbol called Start, or else that of the first rule. A panel is needed only for constants that
        depend on the data: `grid(n)`, `quantiles(n)`, and `random` without a range.
        """
        schema = _schema(data)
        return cls._of(parse_grammar(text, len(schema), most_tokens(schema)), data, functions)

    @classmethod
    @collecting_later()
    def parse_any(cls, text: str, data: Panel | Schema, functions: Sequence[UserFunction] = ()) -> "Grammar":
        """Parse a grammar that telltree wrote itself, which may be of any length."""
        return cls._of(parse_grammar(text, len(_schema(data))), data, functions)

    @classmethod
    def deferred(cls, read: Callable[[], "Grammar"]) -> "Grammar":
        """Return a grammar that is read at its first use: with thousands of columns that takes seconds."""
        grammar = object.__new__(cls)
        grammar.__dict__["_read"] = read
        return grammar

    def __getattr__(self, name: str) -> Any:
        # Called only for attributes that are not there, which is all of them before the grammar is read.
        if name not in _FIELDS or "_read" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        read = self.__dict__["_read"]()
        self.__dict__.update({field: getattr(read, field) for field in _FIELDS})
        return getattr(read, name)

    @classmethod
    def _of(
        cls,
        definitions: Sequence[Definition],
        data: Panel | Schema,
        functions: Sequence[UserFunction] = (),
        *,
        count_nodes: bool = False,
    ) -> "Grammar":
        schema = _schema(data)
        drafts, left_out = resolve(definitions, data, functions)
        text = grammar_text(drafts)
        check_size(text, "the grammar, with its groups written out,", len(schema))  # otherwise no model could be loaded
        start = "Start" if "Start" in drafts else definitions[0].symbol
        places = {definition.symbol: definition.place for definition in definitions}
        symbols = lift(drafts)
        needed = mentions(symbols)
        check_used(needed, start, places)
        order = rename_order(symbols)
        check_ends(needed, places)
        types = infer(symbols, start, needed)
        check_levels(symbols, schema)
        check_parameters(symbols)
        rules = normal_form(symbols, order, start, types, count_nodes=count_nodes)
        heads = _heads(rules)
        names = {head.name for head in heads if isinstance(head, Attribute)}
        called = {head for head in heads if isinstance(head, UserFunction)}
        return cls(
            start=start,
            rules=rules,
            schema=Schema(column for column in schema.values() if column.name in names),
            functions=tuple(function for function in functions if function in called),
            left_out=left_out,
            _text=text,
        )

    @classmethod
    @collecting_later()
    def for_panel(
        cls, panel: Panel, labels: Any = None, *, columns: Sequence[str] | None = None, shapes: int = 0
    ) -> "Grammar":
        """The default language for the records of a panel: sentences about each column that can tell records apart.

        Real columns are compared with constants among the extremes of the records, or among all values where several
        conditions hold at once (or with their thresholds in the schema); there are words for when, how long and by how
        much a value changed. The more columns, the fewer constants for each. With `shapes`, it can also say what real
        columns look like: about so many pieces of the records are drawn at random, the same for the same records.
        `labels`, one per record, serve three purposes: to group the levels of a column that has many, to draw shapes
        from all classes alike, and to find out whether words for how long earn their place: of fewer than 100 records,
        they are left out unless one of them tells more of some class than every plain sentence, and `unsaid` says so.
        `columns` are those to use, by default all but the unusable, which `left_out` lists. `str(grammar)` is its text,
        to edit and hand back.
        """
        known = None if labels is None else check_labels(labels, panel)
        definitions, left_out, unsaid = fitting_definitions(panel, known, columns, shapes)
        return replace(cls._of(definitions, panel), left_out=left_out, unsaid=unsaid)

    @classmethod
    @collecting_later()
    def generic(
        cls,
        panel: Panel,
        *,
        operators: Sequence[str] = OPERATORS,
        points: int = 10,
        atoms_weight: float = 4.0,
        columns: Sequence[str] | None = None,
    ) -> "Grammar":
        """The paper's generic temporal-logic grammar for the columns of a panel that can tell records apart.

        Real columns are compared with their thresholds in the schema, or else with `points` constants spread evenly
        over their range; categorical ones with their levels; Boolean ones stand for themselves. All these atoms are one
        alternative, drawn `atoms_weight` times as often as each connective. `columns` are those to use, by default all
        but the unusable, which `left_out` lists.
        """
        definitions, left_out = stock_definitions(panel, operators, points, atoms_weight, columns)
        return replace(cls._of(definitions, panel), left_out=left_out)

    @cached_property
    def symbols(self) -> tuple[str, ...]:
        """The symbols that have rules, the start first."""
        return tuple(dict.fromkeys(rule.symbol for rule in self.rules))

    @property
    def attributes(self) -> tuple[str, ...]:
        """The names of the columns that rules mention, in the order of the schema."""
        return self.schema.names

    @cached_property
    def has_random_constants(self) -> bool:
        """True if some rule draws its constant at random."""
        return any(isinstance(rule.template.head, RandomNumber) for rule in self.rules)

    @cached_property
    def counting_nodes(self) -> "Grammar":
        """The grammar with another size of formulas: the nodes of the derivation tree, the paper's N_e."""
        if self.rules[0].nodes:
            return self
        definitions = parse_grammar(self._text, len(self.schema))
        return self._of(definitions, self.schema, self.functions, count_nodes=True)

    @cached_property
    def tables(self) -> "Tables":
        """The rules packed for compiled code."""
        from telltree.grammar.tables import Tables

        return Tables.of(self.rules, self.symbols)

    def derive(self, formula: str | Expression) -> "Derivation":
        """Return a derivation of this formula by the first rules that fit; GrammarError if there is none.

        A random constant matches any number in its range.
        """
        if isinstance(formula, str):
            formula = parse_formula(formula, self.schema, functions=self.functions)
        written_by = self._matcher.match(self.start, formula)
        if written_by is None:
            raise GrammarError(f"this grammar cannot say {formula}")
        numbers, constants = zip(*written_by, strict=True)
        return Derivation(self, numbers, constants)

    def derivation(self, population: Population, row: int) -> "Derivation":
        """Return a row of a population that was drawn from this grammar."""
        length = int(population.lengths[row])
        constants = population.constants[row, :length] if population.constants.shape[1] else None
        return Derivation(self, population.rules[row, :length], constants)

    def draw(self, seed: int, max_depth: int = 6) -> "Derivation":
        """Return a random derivation that nests at most `max_depth` operators; it depends on the seed (below 2**64)
        alone.
        """
        from telltree.grammar.draw import NO_ROW, Lanes, deepest, draw

        require_whole("seed", seed, 0, 2**64 - 1)
        self.check_depth(max_depth)
        width, depth = self.width(max_depth), deepest(self.tables, max_depth)
        room = Population.empty(1, width, self.has_random_constants)
        draw(
            self.tables.growing, depth, np.uint64(seed), 0, NO_ROW, Lanes.empty(self.tables, width), *room.for_kernels()
        )
        return self.derivation(room, 0)

    def decode(self, codons: Sequence[int], *, wraps: int = 2, max_depth: int = 6) -> "Derivation | None":
        """Return the derivation that grammatical evolution reads from codons; None if it does not end, or is too deep.

        A codon is a whole number from 0 to 2**31 - 1; it is used only where there is a choice, and picks rule number
        codon mod choices. After the last codon, reading starts again at the first, up to `wraps` times.
        """
        from telltree.grammar.draw import decode, deepest

        self.check_depth(max_depth)
        self._refuse_random("decoded")
        require_whole("wraps", wraps, 0, _MOST_CODON)
        if not isinstance(codons, Sequence | np.ndarray):
            raise SettingsError(f"codons must be a list of whole numbers, got {codons!r}")
        if not len(codons):
            raise SettingsError("decode needs at least one codon")
        for i, codon in enumerate(codons):
            require_whole(f"codon {i}", codon, 0, _MOST_CODON)
        room = Population.empty(1, self.width(max_depth), False)
        decode(
            self.tables, deepest(self.tables, max_depth), np.array([codons], np.int32), wraps, room.rules, room.lengths
        )
        return self.derivation(room, 0) if room.lengths[0] else None

    def width(self, max_depth: int) -> int:
        """Return the number of rules in the longest derivation of this depth. Cached, because `row_width` is slow."""
        from telltree.grammar.draw import row_width

        if max_depth not in self._widths:
            self._widths[max_depth] = row_width(self.tables, max_depth)
        return self._widths[max_depth]

    @cached_property
    def _widths(self) -> dict[int, int]:
        return {}

    @property
    def least_depth(self) -> int:
        """The number of operators that the shallowest formula nests."""
        return int(self.tables.of_symbol["least_depth"][0])

    def check_depth(self, max_depth: int) -> None:
        """Raise SettingsError for a depth limit that no formula of this grammar meets."""
        require_whole("max_depth", max_depth)
        if max_depth < self.least_depth:
            raise SettingsError(
                f"max_depth={max_depth} is too shallow: the simplest formula of this grammar nests "
                f"{counted(self.least_depth, 'operator')}"
            )

    def count(self, max_size: int) -> int:
        """Return the exact number of derivations that write at most `max_size` terminals."""
        self._refuse_random("counted")
        return sum(self._sizes.counts(self.start, max_size))

    def bits(self, max_size: int) -> list[float]:
        """Return, for each size from 0 on, log2 of the number of derivations of at most that size: the bits that name
        one.

        A random constant counts as a single choice: its value is not counted.
        """
        counts = accumulate(self._sizes.counts(self.start, max_size))
        return [math.log2(count) if count else 0.0 for count in counts]

    def enumerate(self, max_size: int) -> Iterator["Derivation"]:
        """Yield all derivations that write at most `max_size` terminals, by size, then in rule order."""
        self._refuse_random("enumerated")
        return (Derivation(self, numbers) for numbers in self._sizes.enumerate(self.start, max_size))

    def _refuse_random(self, what: str) -> None:
        if self.has_random_constants:
            raise SettingsError(
                f"with random constants there are infinitely many formulas, which cannot be {what}; use a grid instead"
            )

    @cached_property
    def _matcher(self) -> Matcher:
        return Matcher(self.rules)

    @cached_property
    def _sizes(self) -> Sizes:
        return Sizes(self.rules)

    @cached_property
    def _written(self) -> tuple[object, ...]:
        return tuple((rule.symbol, written(rule.template), rule.weight, rule.nodes) for rule in self.rules)

    @cached_property
    def _hash(self) -> int:
        return hash(self.rules)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Grammar):
            return NotImplemented
        return self is other or (hash(self) == hash(other) and self._written == other._written)

    def __hash__(self) -> int:
        return self._hash

    def __copy__(self) -> "Grammar":
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> "Grammar":
        # Immutable. scikit-learn's clone asks for a deep copy, which would take seconds for thousands of columns.
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Without cached properties: hashes of text differ from process to process.
        return {name: getattr(self, name) for name in _FIELDS}

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        symbols, rules = counted(len(self.symbols), "symbol"), counted(len(self.rules), "rule")
        return f"<Grammar of {symbols}, {rules} and {counted(len(self.attributes), 'attribute')}, start {self.start}>"


_FIELDS = tuple(field.name for field in fields(Grammar))


def _heads(rules: Iterable[Rule]) -> list[Head]:
    """Return the heads in all rules; parts that templates share are visited once."""
    found: dict[int, Head] = {}
    waiting = [rule.template for rule in rules]
    for e in waiting:  # grows during the loop
        if id(e) not in found:
            found[id(e)] = e.head
            waiting.extend(e.args)
    return list(found.values())


def _schema(data: Panel | Schema) -> Schema:
    return data if isinstance(data, Schema) else data.schema


# ---- Derivations


@dataclass(frozen=True, init=False, eq=False)
class Derivation:
    """Rule numbers in prefix order, and the random constant that each rule drew (NaN for rules that draw none)."""

    grammar: Grammar
    rules: NDArray[np.int32]
    constants: NDArray[np.float64]

    def __init__(self, grammar: Grammar, rules: ArrayLike, constants: ArrayLike | None = None) -> None:
        object.__setattr__(self, "grammar", grammar)
        object.__setattr__(self, "rules", np.array(rules, np.int32))
        drawn = np.full(len(self.rules), np.nan) if constants is None else np.array(constants, np.float64)
        object.__setattr__(self, "constants", drawn)

    def __len__(self) -> int:
        """Its size: the terminals it writes, or the nodes of its tree if its grammar counts these."""
        return int(self.grammar.tables.rule["size"][self.rules].sum())

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Derivation):
            return NotImplemented
        same_rules = np.array_equal(self.rules, other.rules) and self.grammar == other.grammar
        return same_rules and np.array_equal(self.constants, other.constants, equal_nan=True)

    def __hash__(self) -> int:
        return hash(self.rules.tobytes())

    def __str__(self) -> str:
        return str(self.expression)

    def __repr__(self) -> str:
        return f"<Derivation of {self.expression}>"

    @property
    def nodes(self) -> int:
        """The number of nodes of its derivation tree: every symbol that was rewritten, and every terminal.

        Symbols are those that the author of the grammar named. If renaming rules lead to the same rule in several ways,
        the shortest of these counts.
        """
        counting = self.grammar.counting_nodes
        return len(self if counting is self.grammar else counting.derive(self.expression))

    @property
    def depth(self) -> int:
        """The depth of nested operators."""
        return self.expression.depth

    @cached_property
    def expression(self) -> Expression:
        """The expression that it writes."""
        return expression_at(self.grammar.rules, self.rules, self.constants, 0)[0]

    def span(self, node: int) -> slice:
        """Return the range of the subtree at this node in `rules`."""
        open_holes, end = 1, node
        first_hole = self.grammar.tables.rule["first_hole"]
        while open_holes:
            rule = self.rules[end]
            open_holes += int(first_hole[rule + 1] - first_hole[rule]) - 1
            end += 1
        return slice(node, end)
