"""One thing and several things in messages."""

import numpy as np
import pytest

from telltree import Column, Formula, Panel, Schema, ask
from telltree.explain import english
from telltree.scale.out_of_core import ShardPlan
from telltree.tree.tree import Optimum

SCHEMA = Schema([Column("x", "real")])


def test_shards_take_turns_if_there_are_several():
    one, two = (str(ShardPlan(np.arange(bounds), 1, 1, 1)) for bounds in (2, 3))
    assert "with records in 1 shard, and at most" in one
    assert "with records in 2 shards that take turns, and at most" in two


@pytest.mark.parametrize(("pool", "said"), [(1, "1 question that answers"), (2, "2 questions that answer")])
def test_questions_that_answer_differently(pool, said):
    found = Optimum(levels=1, pool=pool, leaves=2, compared=1, left_out=1, cost=1.0, greedy=1.0, told_in="bits")
    assert f"no tree of up to 1 level over {said} differently costs less" in str(found)
    assert "and 1 question left out" in str(found)


def test_one_more_class():
    panel = Panel.from_arrays([np.array([[float(i)]]) for i in range(26)], columns=["x"])
    told = str(ask(panel, "F(x >= 0)", [f"c{i % 13:02}" for i in range(26)]))
    assert "  and 1 more class with as many or fewer" in told


@pytest.mark.parametrize(("steps", "said"), [(1, " 1 step earlier]"), (2, " 2 steps earlier]")])
def test_steps_in_the_form_of_the_paper(steps, said):
    formula = Formula.parse(f"F(change(x, {steps}) > 2)", SCHEMA)
    assert said in english(formula, SCHEMA, style="paper")
