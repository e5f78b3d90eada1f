"""Growth: trees that look further ahead than one question at a time.

`settings.py` is what a user chooses, `whole.py` what a tree costs as a whole, `pool.py` which questions there are to
choose from, `best.py` which tree of them is best, and `optimal.py` puts that tree in the place of the greedy one.
"""
