"""What few words might say of a leaf: parts of what is true of it, and short sentences about the same columns."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations, islice, product

from telltree.operators import Expression
from telltree.operators.rounding import rounded
from telltree.speech import cost
from telltree.speech.lists import joined
from telltree.speech.normal import taken_apart
from telltree.speech.possible import Possible
from telltree.speech.terms import FALSE, TRUE, All, Always, HowOften, Some, Sometime, Term
from telltree.tree.bounds import DIGITS
from telltree.tree.observed import atoms_of, observed, signals_asked
from telltree.tree.tree import Tree

_MOST_COST = 12  # a costlier term takes more words than a headline has
_MOST_PIECES = 40  # of one claim
_MOST_RUNNERS_UP = 4  # of one node


def implied(whole: Term, claims: Sequence[Expression], possible: Possible) -> dict[Term, int]:
    """Short terms that follow from all claims together, for every possible record, with their costs.

    `whole` says the same as all claims. What a grammar says in its own words is not taken apart.
    """
    if not all(map(_in_common_words, claims)):
        return {}
    terms = [whole, *(taken_apart(claim, possible) for claim in claims)]
    return short(chain([whole], *(_pieces(term, possible, implied=True) for term in terms)))


def nearly_asked(tree: Tree, longest: int) -> tuple[list[Term], list[Expression]]:
    """Terms about columns of the tree: parts of its formulas and their runners-up, and terms made from their atoms.

    The opposite of each is as good a term. Both may be true or false of the records of any leaf; the longest record has
    `longest` steps. Also returns the signals that these formulas compare with constants.
    """
    possible = Possible(tree.missing, tree.static)
    others = (
        rounded(other.formula.expression, DIGITS) for node in tree.nodes for other in node.runners_up[:_MOST_RUNNERS_UP]
    )
    known = (e for e in others if all(name in tree.schema for name in e.attributes()))
    own = list(filter(_in_common_words, (node.formula.expression for node in tree.nodes)))
    formulas = dict.fromkeys(chain(own, filter(_in_common_words, known)))
    terms = (taken_apart(e, possible) for e in formulas)
    atoms = atoms_of(taken_apart(e, possible, truth) for e in own for truth in (True, False))
    made = observed(tree.schema.values(), atoms, longest, possible)
    found = dict.fromkeys(chain(*(_pieces(term, possible, implied=False) for term in terms), made))
    return [term for term in found if not _is_settled(term)], signals_asked(tree.schema.values(), atoms)


def _in_common_words(e: Expression) -> bool:
    """What a grammar says in its own words is not taken apart."""
    return all(part.english is None for part in e.walk())


def short(terms: Iterable[Term]) -> dict[Term, int]:
    """The terms that may have few words, with their costs."""
    costs = {term: cost(term) for term in dict.fromkeys(terms) if not _is_settled(term)}
    return {term: paid for term, paid in costs.items() if paid <= _MOST_COST}


def _is_settled(term: Term) -> bool:
    """Whether a term is true, or false, of everything, as a runner-up with rounded constants may be."""
    return term in (TRUE, FALSE) or (isinstance(term, Sometime | Always | HowOften) and _is_settled(term.part))


def _pieces(term: Term, possible: Possible, *, implied: bool) -> Iterator[Term]:
    """Small terms made of parts of a term; `implied`: only those that follow from it."""
    for claim in term.parts if isinstance(term, All) else (term,):
        yield claim
        yield from islice(_within(claim, possible, implied), _MOST_PIECES)


def _within(term: Term, possible: Possible, implied: bool) -> Iterator[Term]:
    """One part of a list, or two; but all parts of an "or" if the result must follow."""
    found: Iterable[Term] = (term,)
    match term:
        case Some(parts) if implied:
            ways = product(*(list(islice(_within(part, possible, implied), 3)) for part in parts))
            found = (joined(Some, way, possible) for way in ways)
        case All(parts) | Some(parts):
            pieces = [list(islice(_within(part, possible, implied), 3)) for part in parts]
            pairs = (pair for a, b in combinations(pieces, 2) for pair in product(a, b))
            found = chain(chain.from_iterable(pieces), (joined(type(term), pair, possible) for pair in pairs))
        case Sometime(part) | Always(part):
            found = map(type(term), _within(part, possible, implied))
    return (piece for piece in found if piece not in (TRUE, FALSE))
