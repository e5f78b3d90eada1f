"""Compiled reading of genomes: lists of numbers that grammatical evolution reads as choices of rules."""

# mypy: disable-error-code="no-untyped-def, no-untyped-call"

import numpy as np

from telltree.compiled import at, borrowed, inline, kernel
from telltree.grammar.derivations.growing import HALF, LOW_HALF, hole_of
from telltree.grammar.derivations.naming import FREE, finished_name, longer_name


@inline
def read_genome(tables, depth, genome, wraps, rules, holes):
    """Grammatical evolution: read a genome as choices of rules, depth first, wrapping around `wraps` times.

    A codon is used only where there is a choice. It picks rule number codon mod choices; rules of greater weight occur
    more often among the choices. Returns the length, which is 0 if the genome runs out or the derivation is too deep or
    too long; the number of codons read; and the name.
    """
    holes[0] = hole_of(0, depth)  # here a hole holds a symbol, not a row of choices
    waiting, position, used, codon, name = 1, 0, 0, 0, FREE
    while waiting:
        waiting -= 1
        symbol, left = holes[at(waiting)] >> HALF, np.int64(holes[at(waiting)] & LOW_HALF)
        first_lot, pick = tables.of_symbol[symbol].first_lot, np.int64(0)
        choices = tables.of_symbol[symbol + at(1)].first_lot - first_lot
        if choices > 1:
            if used == len(genome) * (wraps + 1):
                return 0, used, name
            pick = np.int64(np.uint32(genome[at(codon)]) % np.uint32(choices))
            used += 1
            codon = codon + 1 if codon + 1 < len(genome) else 0
        rule = tables.lot[at(first_lot + pick)]
        if tables.rule[at(rule)].height > left or position + waiting >= len(rules):
            return 0, used, name
        rules[at(position)] = rule
        name = longer_name(name, rule)
        position += 1
        last, first = tables.rule[at(rule + 1)].first_hole - 1, tables.rule[at(rule)].first_hole
        if position + waiting + last - first >= len(rules):  # each hole takes at least one rule
            return 0, used, name
        for hole in range(last, first - 1, -1):
            holes[at(waiting)] = hole_of(tables.hole[at(hole)].symbol, left - tables.hole[at(hole)].drop)
            waiting += 1
    return position, used, finished_name(name)


@kernel
def decode(tables, depth, genomes, wraps, rules, lengths):
    """Read each genome; see `read_genome`."""
    tables, rules = borrowed(tables), borrowed(rules)
    holes = np.empty(rules.shape[1] + 2, np.uint64)
    for i in range(genomes.shape[0]):
        lengths[i], _, _ = read_genome(tables, depth, genomes[i], wraps, rules[i], holes)
