"""How long a message is from which somebody who has the records could read off their classes."""

import math
from typing import Any


def label_bits(weights: Any, unit: float) -> float:
    """The bits in which the classes of so much weight are told one record after another.

    Each record is foretold by the classes before it, as if each of k classes had been met 1/k times to begin with.
    """
    share, whole, told = 1.0 / len(weights), 0.0, 0.0
    for k in range(len(weights)):
        if weights[k] > 0:
            known = weights[k] * unit
            whole += known
            told += math.lgamma(known + share) - math.lgamma(share)
    return (math.lgamma(whole + 1.0) - told) / math.log(2.0)
