"""What a search found, as plain arrays, and back: finished searches are kept like unfinished ones."""

import json
from dataclasses import asdict

import numpy as np

from telltree.errors import CheckpointError
from telltree.grammar.derivations.flat import flat
from telltree.grammar.derivations.population import Population
from telltree.search.archive import Candidate, moments
from telltree.search.by_size import OfSize
from telltree.search.proof import Proof
from telltree.search.search import Found
from telltree.search.state import Given, State, together
from telltree.whole import is_whole


def found_state(found: Found) -> State:
    """What was found."""
    constants = found.best is not None and found.best.derivation.grammar.has_random_constants

    def rows(candidates: list[Candidate]) -> State:
        return flat(Population.of([one.derivation for one in candidates], constants))

    first, best = [best for best, _ in found.by_size], [] if found.best is None else [found.best]
    ties = [found.ties] if found.ties is not None else []
    return {
        "fitness": np.array([one.fitness for one in found.runners_up]),
        "best_fitness": np.array([one.fitness for one in best]),
        "evaluations": np.array(found.evaluations),
        "seconds": np.array(found.seconds),
        "history": np.array(found.history, np.float64).reshape(-1, 3),
        "fitness_by_size": np.array([one.fitness for one in first]),
        "ties_by_size": np.array([len(rows.lengths) for _, rows in found.by_size], np.int64),
        **({} if found.proof is None else {"proof": np.frombuffer(_text(found.proof), np.uint8)}),
    } | together(
        best=rows(best),
        runners_up=rows(list(found.runners_up)),
        ties=_all(ties),
        by_size=rows(first),
        of_sizes=_all([tied for _, tied in found.by_size]),
    )


def found_of(given: Given) -> Found:
    """What was found, of a search that was not interrupted."""
    best, runners_up = _candidates(given, "best", "best_fitness"), _candidates(given, "runners_up", "fitness")
    ties = given.rows("ties")
    first, tied = _candidates(given, "by_size", "fitness_by_size"), given.rows("of_sizes")
    ends = np.cumsum(given.array("ties_by_size", np.int64, len(first)))
    starts = np.concatenate([[0], ends[:-1]]) if len(ends) else ends
    if (ends < starts).any() or (ends[-1] if len(ends) else 0) != len(tied.lengths):
        raise CheckpointError("the formulas of each size are not as many as it says")
    parts = [tied.take(np.arange(*ends_of)) for ends_of in zip(starts, ends, strict=True)]
    if not len(best) == bool(runners_up) == bool(len(ties.lengths)):
        raise CheckpointError("there is a best formula, and none that ties for the best, or the other way round")
    return Found(
        best=best[0] if best else None,
        runners_up=runners_up,
        ties=ties if len(ties.lengths) else None,
        history=tuple(moments(given)),
        evaluations=given.number("evaluations", np.int64),
        seconds=given.number("seconds", np.float64),
        interrupted=False,
        by_size=tuple(map(OfSize, first, parts)),
        proof=_proof(given) if given.has("proof") else None,
    )


def _text(proof: Proof) -> bytes:
    """A proof as text: numbers of formulas may have any number of digits."""
    return json.dumps(asdict(proof)).encode()


def _proof(given: Given) -> Proof:
    try:
        told = json.loads(given.array("proof", np.uint8, None).tobytes())
        proof = Proof(**told)
    except (ValueError, TypeError, RecursionError) as error:
        raise CheckpointError(f"what was proved cannot be read: {error}") from None
    whole = (proof.atoms, proof.depth, proof.formulas, proof.tried, proof.wanted, proof.sampled)
    if not all(is_whole(number, 0) for number in whole) or not (proof.size is None or is_whole(proof.size, 0)):
        raise CheckpointError("what was proved has impossible numbers")
    if not isinstance(proof.fitness, float):
        raise CheckpointError("what was proved has an impossible fitness")
    if not all(isinstance(flag, bool) for flag in (proof.is_all, proof.goes_deeper)):
        raise CheckpointError("which formulas were proved not to be fitter is neither true nor false")
    return proof


def _all(populations: list[Population]) -> State:
    return flat(Population.joined(populations) if populations else Population.empty(0, 1, False))


def _candidates(given: Given, name: str, fitness: str) -> tuple[Candidate, ...]:
    rows = given.rows(name)
    reached = given.array(fitness, np.float64, len(rows.lengths)).tolist()
    return tuple(Candidate(rows.derivation(i, given.grammar), of) for i, of in enumerate(reached))
