"""Work on a Dask cluster: the same model as on one machine, also when workers die."""

import os
import signal
from dataclasses import replace
from itertools import pairwise
from multiprocessing import parent_process

import dask
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from distributed import Client, LocalCluster
from distributed.comm import CommClosedError
from distributed.utils import get_mp_context

from tests.support.programs import telltree

from telltree import GrammarForestClassifier, GrammarTreeClassifier, read, scan, user_function
from telltree.datasets import make_encounters
from telltree.errors import ClusterError, DataWarning, FunctionError, SettingsError
from telltree.estimators import cross_validate
from telltree.estimators.cross_validation import stratified_folds
from telltree.experiments import run_experiment
from telltree.scale import checkpoint as keeping
from telltree.search import GeneticProgramming
from telltree.tree import GiniSize

SEARCH = GeneticProgramming(evaluations=400, population=100)


@pytest.fixture(scope="module", autouse=True)
def quick_starts():
    """Workers are forked from a process that has loaded what they need, telltree itself apart: dozens are started."""
    with dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"}):
        processes = get_mp_context()  # which has its own idea of what to load
        processes.set_forkserver_preload(
            ["distributed", "numba", "pandas", "pyarrow.parquet", "scipy.sparse", "sklearn"]
        )
        yield


@pytest.fixture(scope="module")
def cluster():
    """Two processes of one thread each, which are started again when they die."""
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as found:
        yield found


@pytest.fixture
def client(cluster):
    with Client(cluster) as found:
        found.wait_for_workers(2)
        yield found


@pytest.fixture(scope="module")
def records():
    panel, y, _ = make_encounters(300, 60, 0)
    return panel.select(list(panel.schema)[:12]), y


@pytest.fixture
def often(monkeypatch):
    """Checkpoints are written after every generation and node."""
    monkeypatch.setattr(keeping, "EVERY", 0.0)
    monkeypatch.setattr(keeping, "SHARE", 1e9)


def saved(model, folder):
    model.set_params(callback=None).save(folder / "model.json", overwrite=True)
    return (folder / "model.json").read_bytes()


@pytest.fixture(scope="module")
def alone(records, tmp_path_factory):
    """The model of one machine."""
    return saved(GrammarTreeClassifier(search=SEARCH, random_state=0).fit(*records), tmp_path_factory.mktemp("alone"))


def test_the_model_is_that_of_one_machine(client, records, alone, tmp_path):
    model = GrammarTreeClassifier(search=SEARCH, random_state=0).fit(*records, client=client)
    assert saved(model, tmp_path) == alone


@pytest.mark.slow
def test_workers_count_nodes_of_derivation_estimators_alike(client, records, tmp_path):
    settings = {"search": SEARCH, "criterion": GiniSize(size="nodes"), "max_depth": 2, "random_state": 0}
    here, there = (GrammarTreeClassifier(**settings).fit(*records, **given) for given in ({}, {"client": client}))
    assert saved(here, tmp_path) == saved(there, tmp_path)


@pytest.fixture(scope="module")
def parquet(records, tmp_path_factory):
    """The records in files, one of which ends within a record."""
    panel, y = records
    table, folder = panel.to_frame("pyarrow"), tmp_path_factory.mktemp("parquet")
    table = table.append_column("label", pa.array(np.repeat(y, panel.lengths)))
    for number, (low, high) in enumerate(pairwise([0, 7_001, 11_111, table.num_rows])):
        pq.write_table(table.slice(low, high - low), folder / f"{number}.parquet", row_group_size=1_000)
    return folder


@pytest.mark.slow
def test_workers_read_parquet_by_themselves(client, parquet, tmp_path, monkeypatch):
    read_here = read(parquet, id="id", time="time", label="label")
    models = [GrammarTreeClassifier(search=SEARCH, random_state=0).fit(*read_here)]
    with monkeypatch.context() as patch:
        patch.setattr(client, "scatter", lambda *_, **__: pytest.fail("records were sent"))
        for given in (read_here, scan(parquet, id="id", time="time", label="label")):
            models.append(GrammarTreeClassifier(search=SEARCH, random_state=0).fit(*given, client=client))
    for path in parquet.iterdir():
        os.utime(path, ns=(0, 0))
    with pytest.warns(DataWarning, match=r"\.parquet' has changed since .*, so they are sent to the workers"):
        models.append(GrammarTreeClassifier(search=SEARCH, random_state=0).fit(*read_here, client=client))
    assert len({saved(model, tmp_path) for model in models}) == 1


@pytest.mark.slow
@pytest.mark.usefixtures("often")
def test_a_fit_goes_on_from_its_checkpoint_with_or_without_workers(client, records, alone, tmp_path):
    def stop(event):
        if event.node > 1:
            raise KeyboardInterrupt

    for number, clients in enumerate([(client, client), (client, None), (None, client)]):
        path = tmp_path / f"checkpoint {number}"
        cut = GrammarTreeClassifier(search=SEARCH, random_state=0, callback=stop)
        assert cut.fit(*records, client=clients[0], checkpoint=path).interrupted_
        events = []
        model = GrammarTreeClassifier(search=SEARCH, random_state=0, callback=events.append)
        model.fit(*records, client=clients[1], checkpoint=path)
        assert 1 not in {event.node for event in events}  # the root was finished
        assert saved(model, tmp_path) == alone


@pytest.mark.slow
def test_folds_are_learnt_on_workers(client, records, tmp_path):
    models = [
        GrammarTreeClassifier(search=SEARCH, random_state=0, cv=2).fit(*records, **given)
        for given in ({}, {"client": client})
    ]
    assert np.array_equal(models[0].validation_.path_probabilities, models[1].validation_.path_probabilities)
    assert saved(models[0], tmp_path) == saved(models[1], tmp_path)


@pytest.mark.slow
def test_cross_validation_is_spread_over_workers(client, records):
    panel, y = records
    parts, told = stratified_folds(np.unique(y, return_inverse=True)[1], None, 3, 0), []
    model = GrammarTreeClassifier(search=SEARCH, max_depth=2, random_state=0)
    here = cross_validate(model, panel, y, parts)
    there = cross_validate(model, panel, y, parts, lambda *done: told.append(done), client=client)
    assert np.array_equal(here, there)
    assert told == [(1, 3), (2, 3), (3, 3)]


def forest(**given):
    tree = GrammarTreeClassifier(search=SEARCH, max_depth=2)
    return GrammarForestClassifier(tree, n_estimators=8, random_state=0, **given)


@pytest.fixture(scope="module")
def forest_alone(records):
    """The forest of one process."""
    return forest().fit(*records)


def test_the_trees_of_a_forest_grow_on_workers(client, records, forest_alone, tmp_path):
    told = []
    there = forest(callback=told.append).fit(*records, client=client)
    assert there.trees_ == forest_alone.trees_
    assert there.out_of_bag_ == forest_alone.out_of_bag_
    assert saved(there, tmp_path) == saved(forest_alone, tmp_path)
    assert told == [(done, 8) for done in range(1, 9)]


@pytest.mark.slow
def test_a_worker_that_dies_while_trees_grow_changes_nothing(client, records, forest_alone):
    victims = list(client.run(os.getpid).values())

    def kill(progress):
        if progress.done == 1:
            os.kill(victims[0], signal.SIGKILL)

    there = forest(callback=kill).fit(*records, client=client)
    assert there.trees_ == forest_alone.trees_
    assert there.out_of_bag_ == forest_alone.out_of_bag_


@pytest.mark.slow
def test_trees_go_on_after_all_workers_have_died_but_not_without_a_scheduler(records, forest_alone):
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as own, Client(own) as client:
        (victim,) = client.run(os.getpid).values()

        def kill(progress):
            if progress.done == 2:
                os.kill(victim, signal.SIGKILL)

        there = forest(callback=kill).fit(*records, client=client)
        assert there.trees_ == forest_alone.trees_
        with pytest.raises(ClusterError, match=r"scheduler .* again"):
            forest(callback=lambda _done: own.close()).fit(*records, client=client)


@pytest.mark.slow
@pytest.mark.parametrize("losses", [1, 4])
def test_records_of_folds_are_sent_again_if_a_worker_dies_meanwhile(client, records, monkeypatch, losses):
    """As Dask has it: the scheduler hangs up."""
    panel, y = records
    scatter, sent = Client.scatter, []

    def hung_up(self, *args, **given):
        sent.append(given)
        if len(sent) <= losses:
            raise CommClosedError("Stream is closed")
        return scatter(self, *args, **given)

    monkeypatch.setattr(Client, "scatter", hung_up)
    parts = stratified_folds(np.unique(y, return_inverse=True)[1], None, 2, 0)
    model = GrammarTreeClassifier(search=SEARCH, max_depth=1, random_state=0)
    if losses == 4:
        with pytest.raises(ClusterError, match="lost 4 times in a row while records were sent"):
            cross_validate(model, panel, y, parts, client=client)
    else:
        there = cross_validate(model, panel, y, parts, client=client)
        assert np.array_equal(there, cross_validate(model, panel, y, parts))
    assert len(sent) == min(losses + 1, 4)


@pytest.mark.slow
@pytest.mark.parametrize("moment", [1, 5, 12])
def test_a_worker_that_dies_changes_nothing(client, records, alone, tmp_path, moment):
    victims, told = list(client.run(os.getpid).values()), iter(range(10**6))

    def kill(_event):
        if next(told) == moment:
            os.kill(victims[0], signal.SIGKILL)

    model = GrammarTreeClassifier(search=SEARCH, random_state=0, callback=kill).fit(*records, client=client)
    assert next(told) > moment
    assert saved(model, tmp_path) == alone


@pytest.mark.slow
def test_ctrl_c_keeps_the_best_tree_so_far(client, records):
    """Nodes are asked about from threads, and only the main one hears of signals."""
    told = iter(range(10**6))

    def interrupt(_event):
        if next(told) == 5:
            os.kill(os.getpid(), signal.SIGINT)

    endless = replace(SEARCH, evaluations=10**7)
    model = GrammarTreeClassifier(search=endless, random_state=0, callback=interrupt).fit(*records, client=client)
    assert model.interrupted_
    assert len(model.predict(records[0])) == len(records[0])


@user_function(takes=["real"], gives="real", elementwise=True)
def deadly(x):
    """Kill any process but that of the tests."""
    if parent_process() is not None:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


@user_function(takes=["real"], gives="real", elementwise=True)
def faulty(x):
    """Fail in any process but that of the tests."""
    if parent_process() is not None:
        raise ValueError("on purpose")
    return x


@pytest.mark.slow
@pytest.mark.parametrize(
    ("function", "error", "says"),
    [
        (
            deadly,
            ClusterError,
            r"the shard with records 0 to \d+ \(row 0 of '.*0\.parquet' to row [\d,]+ of '.*2\.parquet'\) "
            r"failed 4 times in a row; .* memory",
        ),
        (faulty, FunctionError, "on purpose"),
    ],
)
def test_a_shard_that_always_fails_is_named(parquet, function, error, says):
    panel, y = read(parquet, id="id", time="time", label="label")
    column = next(name for name, kind in panel.schema.items() if kind.type == "real")
    grammar = f"Start ::= F({function.name}(`{column}`) > grid(-9, 9, 5))"
    model = GrammarTreeClassifier(grammar, SEARCH, functions=[function], random_state=0)
    own = LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0")
    with own, Client(own) as client, pytest.raises(error, match=says):
        model.fit(panel, y, client=client)


@pytest.mark.slow
@pytest.mark.usefixtures("often")
def test_a_scheduler_that_goes_away_is_one_error_and_a_checkpoint(records, alone, tmp_path):
    path = tmp_path / "checkpoint"
    with LocalCluster(n_workers=1, threads_per_worker=1, dashboard_address=":0") as own, Client(own) as client:

        def leave(event):
            if event.node > 1:
                own.close()

        model = GrammarTreeClassifier(search=SEARCH, random_state=0, callback=leave)
        with pytest.raises(ClusterError, match=r"scheduler .* again"):
            model.fit(*records, client=client, checkpoint=path)
    events = []
    model = GrammarTreeClassifier(search=SEARCH, random_state=0, callback=events.append)
    model.fit(*records, checkpoint=path)
    assert 1 not in {event.node for event in events}
    assert saved(model, tmp_path) == alone


def test_what_is_no_client_is_refused(records):
    with pytest.raises(SettingsError, match=r"dask\.distributed\.Client"):
        GrammarTreeClassifier(search=SEARCH).fit(*records, client="tcp://nowhere")


@pytest.mark.slow
def test_an_experiment_runs_on_workers(client, tmp_path):
    given = {"trials": 2, "searches": ("mc",), "baselines": ("tree",), "records": 200}
    tables = [run_experiment("encounters", **given, **more) for more in ({"jobs": 1}, {"client": client})]
    runs = [
        [(run.model, run.trial, run.f1) for result in table.models.values() for run in result.runs] for table in tables
    ]
    assert runs[0] == runs[1]


@pytest.mark.slow
def test_the_command_line_takes_an_address(cluster, client, records, tmp_path):
    panel, y = records
    table = panel.to_frame()
    table["label"] = np.repeat(y, panel.lengths)
    table.to_csv(tmp_path / "records.csv", index=False)
    words = [
        "fit",
        tmp_path / "records.csv",
        "--id",
        "id",
        "--label",
        "label",
        "--search-evaluations",
        "200",
        "--no-cv",
    ]
    here = telltree(*words, "-o", tmp_path / "here.json")
    there = telltree(*words, "-o", tmp_path / "there.json", "--dask", cluster.scheduler_address)
    assert (here.returncode, there.returncode) == (0, 0), there.stderr
    assert (tmp_path / "there.json").read_bytes() == (tmp_path / "here.json").read_bytes()


@pytest.mark.slow
def test_an_address_where_nobody_listens_is_one_error(tmp_path):
    (tmp_path / "records.csv").write_text("id,x,label\n1,1,a\n2,2,b\n")
    ended = telltree("fit", tmp_path / "records.csv", "--id", "id", "--label", "label", "--dask", "tcp://127.0.0.1:9")
    assert ended.returncode != 0
    assert "there is no Dask scheduler at 'tcp://127.0.0.1:9'" in ended.stderr
    assert "Traceback" not in ended.stderr
