"""A join on Spark has the same rows in the same order as in process."""

from __future__ import annotations

import random
from dataclasses import replace

import pyarrow.parquet
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import dovetail
from dovetail import _objects
from dovetail._spark.session import SparkRequest, spark_session
from dovetail.errors import InputError, UnknownName
from dovetail.join import spark as on_spark
from dovetail.join import spark_inputs, spark_keys
from dovetail.join.request import JoinRequest
from dovetail.similar import texts
from dovetail.transform.program import Extract, Program, Split
from dovetail.transform.transformation import Transformation
from support.buckets import s3_server
from support.command import dovetail as command
from support.pipeline import index, without_spark
from support.processes import dovetail as process


@pytest.fixture
def files(tmp_path):
    (tmp_path / "l.csv").write_text("id,a\n1,x\n02,y\nNA,z\n3.0,\n1,w\n")
    (tmp_path / "r.csv").write_text("ref,a\n3,p\n1,q\nNA,s\n7,t\n1,u\n")
    return tmp_path / "l.csv", tmp_path / "r.csv"


def test_the_same_rows_as_in_process(files, tmp_path, monkeypatch):
    monkeypatch.setattr(spark_inputs, "_PART_BYTES", 12)  # several parts
    said = command(
        "join",
        *files,
        "--on",
        "id=ref",
        "--how",
        "outer",
        "--master",
        "local[1]",
        "-o",
        tmp_path / "o.parquet",
        "--json",
    ).json
    wanted = dovetail.join(*files, on="id=ref", how="outer")
    assert pyarrow.parquet.read_table(tmp_path / "o.parquet").to_pydict() == wanted.table.to_pydict()
    assert (said["rows"], said["matched_left"], said["matched_right"]) == (
        wanted.rows, wanted.matched_left, wanted.matched_right,
    )  # fmt: skip


@pytest.fixture
def accounts(tmp_path):
    """Names, and addresses that are made of them."""
    chance = random.Random(5)
    words = ["".join(chance.choices("abcdefghijklmnoprstuvwz", k=7)).capitalize() for _ in range(120)]
    names = list(zip(words[::2], words[1::2], strict=True))
    left = [f"{number},{a} {b}" for number, (a, b) in enumerate(names[:50] + names[:5])]
    right = [f"{a[0].lower()}.{b.lower()}@example.org,{number}" for number, (a, b) in enumerate(names[5:])]
    (tmp_path / "names.csv").write_text("id,name\n" + "\n".join(left) + "\n60,\n")
    (tmp_path / "mails.csv").write_text("mail,number\n" + "\n".join(right) + "\n")
    return tmp_path / "names.csv", tmp_path / "mails.csv"


@pytest.mark.full
def test_a_learned_program_is_reported_and_saved(accounts, tmp_path):
    said = command(
        "join", *accounts, "--by", "transform", "--master", "local[1]", "-o", tmp_path / "o.parquet", "--save",
        tmp_path / "program.json",
    )  # fmt: skip
    assert said.code == 0, said.err
    wanted = dovetail.join(*accounts, by="transform")
    assert f"Transformation: {wanted.transformation}" in said.out
    assert Transformation.load(tmp_path / "program.json") == wanted.transformation
    assert pyarrow.parquet.read_table(tmp_path / "o.parquet").to_pydict() == wanted.table.to_pydict()


def test_what_spark_does_not_do(files, tmp_path):
    with pytest.raises(InputError, match=r"Spark writes \.parquet and \.csv"):
        on_spark.join_on_spark(*files, JoinRequest("id=ref"), tmp_path / "o.arrow", SparkRequest())
    with pytest.raises(InputError, match="already exists"):
        on_spark.join_on_spark(*files, JoinRequest("id=ref"), files[0], SparkRequest())
    for options in (["-o", tmp_path / "o.parquet"], ["--on", "id=ref"]):
        said = command("join", *files, "--master", "local[1]", *options)
        assert (said.code, said.err.strip()) == (2, "--master needs two tables, -o, and --on, --by or --program.")
    said = command("join", *files, "--master", "local[1]", "--on", "id=ref", "--csv")
    assert (said.code, said.err.split(";")[0]) == (2, "--master writes rows to -o")


@pytest.fixture(scope="module")
def spark():
    with spark_session(SparkRequest(master="local[2]")) as engine:
        yield engine.session


@pytest.mark.parametrize(
    "how", ["outer", *(pytest.param(how, marks=pytest.mark.full) for how in ("inner", "left", "right", "semi", "anti"))]
)
def test_frames_join_as_files_do(files, spark, how):
    wanted = dovetail.join(*files, on="id=ref", how=how).table.to_pylist()
    frames = [spark.read.csv(str(file), header=True, nullValue="", inferSchema=False) for file in files]
    for left, right in (files, frames, (files[0], frames[1])):
        found = dovetail.join_on_spark(left, right, "id=ref", how, spark=spark).collect()
        assert [{name: value or None for name, value in row.asDict().items()} for row in found] == [
            {name: value or None for name, value in row.items()} for row in wanted
        ]


def test_frames_of_numbers_and_odd_names(spark):
    left = spark.createDataFrame([(1, 2.5), (2, 1.0), (3, None)], "`my id` int, `a.b` double")
    right = spark.createDataFrame([("1.0", "x"), ("2.5", "y"), (None, "z")], "value string, `my id` string")
    found = dovetail.join_on_spark(left, right, [("a.b", "value")], spark=spark)
    assert found.columns == ["my id", "a.b", "value", "my id_right"]
    assert [tuple(row) for row in found.collect()] == [(1, 2.5, "2.5", "y"), (2, 1.0, "1.0", "x")]
    assert dovetail.join_on_spark(left, right, [("a.b", "value"), ("a.b", "value")], spark=spark).count() == 2
    with pytest.raises(UnknownName, match='There is no column "nothing"'):
        dovetail.join_on_spark(left, right, "nothing=value", spark=spark)


def test_tables_of_the_catalog(files, spark):
    spark.read.csv(str(files[1]), header=True).createOrReplaceTempView("some_table")
    found = dovetail.join_on_spark(files[0], "some_table", "id=ref", spark=spark).collect()
    assert len(found) == dovetail.join(*files, on="id=ref").rows > 0
    with pytest.raises(InputError, match="There is no file no_table, and Spark has no table of this name"):
        dovetail.join_on_spark(files[0], "no_table", "id=ref", spark=spark)
    with pytest.raises(InputError, match="needs the columns"):
        dovetail.join_on_spark(*files, spark=spark)


def rows_of(frame):
    return [{name: value or None for name, value in row.asDict().items()} for row in frame.collect()]


def the_same(left, right, spark, least=1, **options):
    """Joined on Spark as in process; returns the result of the latter."""
    wanted = dovetail.join(left, right, **options)
    assert len(wanted.matches.left) >= least
    found = dovetail.join_on_spark(left, right, spark=spark, **options)
    assert rows_of(found) == [{k: v or None for k, v in row.items()} for row in wanted.table.to_pylist()]
    return wanted


@pytest.fixture
def people(tmp_path):
    """Names that are written in other ways, some of them twice, some missing."""
    chance = random.Random(3)
    first = ["Anna", "Bertha", "Claudia", "Dora", "Emma", "Frieda", "Greta", "Hilde", "Irma", "Julia"]
    last = ["Meyer", "Schulze", "Lehmann", "Krueger", "Hofmann", "Zimmermann", "Koenig", "Huber", "Wolff", "Winkler"]
    names = [(a, b) for a in first for b in last]
    chance.shuffle(names)
    left = [f"{number},{a} {b},{number % 4}" for number, (a, b) in enumerate(names[:70])]
    left += [f"{100 + number},{a} {b},1" for number, (a, b) in enumerate(names[:9])] + ["200,,1", "201,NA,2"]
    right = [f"{b}; {a[0]}.,{a} {b[:-1]},{n % 3},{n}" for n, (a, b) in enumerate(names)]
    right += ["Nobody; X.,,0,900", "Huber; Q.,Q Huber,0,901"]
    (tmp_path / "left.csv").write_text("id,name,region\n" + "\n".join(left) + "\n")
    (tmp_path / "right.csv").write_text("short,full,region,number\n" + "\n".join(right) + "\n")
    return tmp_path / "left.csv", tmp_path / "right.csv"


@pytest.mark.full
@pytest.mark.parametrize("how", ["inner", "outer"])
def test_similar_values_join_as_in_process(people, spark, how, monkeypatch):
    monkeypatch.setattr(spark_keys, "SLICE", 16)  # several tasks
    monkeypatch.setattr(texts, "SLICE", 16)
    the_same(*people, spark, 40, on="name=full", by="similar", how=how)


@pytest.mark.full
@pytest.mark.parametrize(
    "options",
    [
        {"min_similarity": 0.6, "one_to_one": True},
        {"equal": "region", "on": None},
        {"on": [("full", "name"), ("region", "region")], "turned": True},
    ],
    ids=str,
)
def test_options_of_similarity(people, spark, options):
    pair = people[::-1] if options.pop("turned", False) else people
    the_same(*pair, spark, **{"on": "name=full", "by": "similar"} | options)


@pytest.mark.full
def test_transformations_join_as_in_process(accounts, spark):
    wanted = the_same(*accounts, spark, 40, by="transform", on="name=mail")
    assert wanted.transformation
    the_same(*accounts[::-1], spark, 40, by=replace(wanted.transformation, reversed=True), how="left")


@pytest.mark.full
def test_several_programs_take_the_first_that_makes_a_key(spark):
    left = {"a": ["x-1", "x-2", "y", "z-9", None, "x-1"], "n": list("abcdef")}
    right = {"key": ["x", "2", "Y", "9", "x-2"]}
    cut = [Program((Extract("a", (Split("-", place, place),)),)) for place in (0, 1)]
    way = Transformation((Program((Extract("a"),)), *cut), False, "key")
    wanted = dovetail.join(left, right, by=way, how="outer")
    assert [row["key"] for row in wanted.table.to_pylist()][:4] == ["x", "x-2", "Y", "9"]
    frames = [spark.createDataFrame(list(zip(*each.values(), strict=True)), list(each)) for each in (left, right)]
    found = dovetail.join_on_spark(*frames, by=way, how="outer", spark=spark)
    assert rows_of(found) == wanted.table.to_pylist()


@pytest.mark.full
def test_near_values_join_as_in_process(people, spark):
    the_same(*people, spark, on="name=full", by="semantic", min_similarity=0.7)


@pytest.mark.full
def test_values_that_the_lake_relates(tmp_path, spark):
    capitals = [("France", "Paris"), ("Japan", "Tokyo"), ("Italy", "Rome"), ("Spain", "Madrid"), ("Peru", "Lima")]
    (tmp_path / "lake").mkdir()
    for number in range(3):
        rows = "".join(f"{country},{capital},{number}\n" for country, capital in capitals)
        (tmp_path / "lake" / f"t{number}.csv").write_text(f"country,capital,n{number}\n{rows}")
    with without_spark():
        index(tmp_path / "lake", tmp_path / "idx")
    (tmp_path / "l.csv").write_text(
        "land,x\n" + "".join(f"{country},{n}\n" for n, (country, _) in enumerate(capitals * 2))
    )
    (tmp_path / "r.csv").write_text("city,y\n" + "".join(f"{city},{n}\n" for n, (_, city) in enumerate(capitals)))
    options = {"on": "land=city", "by": "through", "index": tmp_path / "idx"}
    the_same(tmp_path / "l.csv", tmp_path / "r.csv", spark, 10, **options)
    with pytest.raises(InputError, match="needs an index"):
        dovetail.join_on_spark(tmp_path / "l.csv", tmp_path / "r.csv", "land=city", by="through", spark=spark)


def test_nothing_joins(spark, tmp_path):
    (tmp_path / "l.csv").write_text("a\nxx\nyy\n")
    (tmp_path / "r.csv").write_text("b\n1\n2\n")
    found = dovetail.join_on_spark(tmp_path / "l.csv", tmp_path / "r.csv", by="similar", how="left", spark=spark)
    assert [tuple(row) for row in found.collect()] == [("xx", None), ("yy", None)]


@pytest.mark.full
def test_a_file_that_is_cut_at_guessed_places(tmp_path, spark, monkeypatch):
    monkeypatch.setattr(spark_inputs, "_PART_BYTES", 1)  # the least that is guessed for is larger
    split = []
    monkeypatch.setattr(spark_inputs, "split", lambda *given: split.append(given))
    rows = "".join(f'{i},"two\nlines {i % 7}"\n' for i in range(20_000))
    (tmp_path / "l.csv").write_text("id,text\n" + rows)
    (tmp_path / "r.csv").write_text("ref\n1\n19999\n7777\n")
    given = spark_inputs.FileInput(tmp_path / "l.csv").rows(spark, "l")
    assert given.rdd.getNumPartitions() > 1
    assert not split
    monkeypatch.undo()
    wanted = dovetail.join(tmp_path / "l.csv", tmp_path / "r.csv", on="id=ref").table.to_pylist()
    monkeypatch.setattr(spark_inputs, "_PART_BYTES", 1)
    found = dovetail.join_on_spark(tmp_path / "l.csv", tmp_path / "r.csv", "id=ref", spark=spark).collect()
    assert [row.asDict() for row in found] == wanted
    assert len(wanted) == 3


@pytest.mark.full
@pytest.mark.parametrize("options", [{"on": "id=ref"}, {"on": "a", "by": "similar"}, {"by": "transform"}], ids=str)
def test_a_file_is_parsed_once(files, spark, tmp_path, monkeypatch, options):
    log = tmp_path / "parsed"
    real = spark_inputs._read_parts

    def counted(batches, *described):
        for number, table in real(batches, *described):
            with log.open("a") as file:
                file.write(".")
            yield number, table

    monkeypatch.setattr(spark_inputs, "_read_parts", counted)
    request = JoinRequest(how="outer", **options)
    on_spark.join_on_spark(*files, request, tmp_path / "o.parquet", SparkRequest(spark))
    assert log.read_text() == ".."


@pytest.mark.full
def test_objects_are_fetched_by_workers(people, tmp_path, monkeypatch):
    with s3_server("bucket", tmp_path / "server.log") as variables:
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        _objects.client.cache_clear()
        for path in people:
            _objects.Objects("s3://bucket/raw").put(path.name, path.read_bytes())
        wanted = dovetail.join(*people, on="name=full", by="similar").table.to_pylist()
        done = process(
            "join", "s3://bucket/raw/left.csv", "s3://bucket/raw/right.csv", "--on", "name=full", "--by", "similar",
            "--master", "local[2]", "-o", tmp_path / "o.parquet", timeout=240,
        )  # fmt: skip
    _objects.client.cache_clear()
    assert done.returncode == 0, done.stderr
    assert pyarrow.parquet.read_table(tmp_path / "o.parquet").to_pylist() == wanted


words = st.sampled_from(["a", "A", "b", "1", "01", "1.0", "", "NA", "x-1", "x-2"])


@pytest.mark.full
@settings(max_examples=5, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(words, words), min_size=1, max_size=9),
    st.lists(st.tuples(words, words), min_size=1, max_size=9),
    st.sampled_from(["inner", "left", "right", "outer", "semi", "anti"]),
    st.sampled_from([{"on": "k"}, {"on": "k", "by": "similar"}, {"on": ["k", "v"]}, {"on": "k", "by": "semantic"}]),
)
def test_random_tables(spark, tmp_path, left, right, how, options):
    files = []
    for name, rows in (("x.csv", left), ("y.csv", right)):
        (tmp_path / name).write_text("k,v\n" + "".join(f"{key or '-'},{value or '-'}\n" for key, value in rows))
        files.append(tmp_path / name)
    the_same(*files, spark, least=0, how=how, **options)
