"""Inclusion dependencies on tables that a person can check, the paper's own and the edges of null among them."""

from __future__ import annotations

import pytest

from dovetail.errors import InputError
from dovetail.evidence.lake_columns import LakeColumns
from dovetail.graph.inclusion import NO_FILTERS, InclusionQuery, as_share
from dovetail.papers import many

PLANETS = {
    "planets.csv": "Planet,Moons\nMercury,none\nVenus,none\nEarth,one\nMars,two\nJupiter,many\nSaturn,many\n",
    "terrestrial.csv": "Object,Density\nMercury,5.4\nVenus,5.2\nEarth,5.5\nMars,3.9\n",
    "satellites.csv": "Name,Satellite of\nMimas,Saturn\nEnceladus,Saturn\nIo,Jupiter\nMoon,Earth\n",
}
EVERYTHING = {"coverage": 0, "null_columns": True, "integers": True, "non_unique": True}
SIGNATURES = [many.BloomParameters(), many.BloomParameters(3, 1, 1, "ref2deps", "plain")]


def pairs(dependencies) -> set[str]:
    return {
        f"{row['dependent_table'][:-4]}.{row['dependent_columns'][0]} in "
        f"{row['referenced_table'][:-4]}.{row['referenced_columns'][0]}"
        for row in dependencies.to_dicts()
    }


def test_the_planets_of_the_paper(lake_of):
    lake = lake_of(PLANETS)
    assert pairs(lake.inds()) == {
        "terrestrial.Object in planets.Planet",
        "satellites.Satellite of in planets.Planet",
    }


def test_numbers_of_a_dependency(lake_of):
    rows = lake_of(PLANETS).inds().to_dicts()
    row = next(row for row in rows if row["dependent_table"] == "satellites.csv")
    assert (row["containment"], row["coverage"]) == (1.0, 0.5)
    assert [row["score"] for row in rows] == sorted((row["score"] for row in rows), reverse=True)


def test_each_filter_alone(lake_of):
    lake = lake_of(
        {
            "a.csv": "n,few,empty\n1,x,\n2,y,\n3,y,\n",
            "b.csv": "n,few\n1,x\n2,y\n3,z\n4,w\n5,v\n6,u\n7,t\n8,s\n9,r\n10,q\n11,p\n",
        }
    )
    assert pairs(lake.inds()) == set()
    assert pairs(lake.inds(coverage=0)) == {"a.few in b.few"}
    assert pairs(lake.inds(integers=True)) == {"a.n in b.n"}
    assert pairs(lake.inds(coverage=0, integers=True)) == {"a.few in b.few", "a.n in b.n"}
    assert pairs(lake.inds(null_columns=True, coverage=0)) == {"a.few in b.few"}, "null is no value, so nothing changes"


def test_repeated_values_can_be_referenced(lake_of):
    lake = lake_of({"a.csv": "one,k\nx,a\ny,b\n", "b.csv": "other,k\nx,c\ny,d\ny,e\n"})
    assert pairs(lake.inds()) == {"b.other in a.one"}
    assert pairs(lake.inds(non_unique=True)) == {"a.one in b.other", "b.other in a.one"}


def test_partial_ones_are_compared_as_rationals(lake_of):
    ten = [f"v{n}" for n in range(10)]
    lake = lake_of(
        {
            "a.csv": "x,k\n" + "".join(f"{value},a{value}\n" for value in ten),
            "b.csv": "y,k\n" + "".join(f"{value},b{value}\n" for value in [*ten[:7], "p", "q"]),
        }
    )
    assert "a.x in b.y" in pairs(lake.inds(partial="0.7"))
    assert "a.x in b.y" in pairs(lake.inds(partial=0.7))
    assert "a.x in b.y" not in pairs(lake.inds(partial="0.70001"))
    row = next(r for r in lake.inds(partial=0.7).to_dicts() if r["dependent_table"] == "a.csv")
    assert (row["containment"], row["coverage"]) == (0.7, 7 / 9)


NULLS = {
    "full.csv": "v,k\na,1x\nb,2x\n",
    "holes.csv": "v,k\na,3x\n,4x\n",
    "nothing.csv": "v,k\n,5x\n,6x\n",
}


def test_null_never_takes_part(lake_of):
    lake = lake_of(NULLS)
    assert pairs(lake.inds(**EVERYTHING)) == {"holes.v in full.v"}


def test_null_equals_null_as_in_the_paper(lake_of):
    lake = lake_of(NULLS)
    found = pairs(lake.inds(null_equal=True, **EVERYTHING))
    assert found == {"nothing.v in holes.v"}, "a column with a null is in none without, nulls alone are in one with"
    without = pairs(lake.inds(null_equal=True, **(EVERYTHING | {"null_columns": False})))
    assert without == set(), "the null filter takes columns without values away"


def test_a_single_null_is_a_value_that_occurs_once(lake_of):
    lake = lake_of({"one.csv": "v,k\n,1x\n", "two.csv": "v,k\n,2x\n", "more.csv": "v,k\n,3x\n,4x\n"})
    found = pairs(lake.inds(null_columns=True, null_equal=True))
    assert found == {"one.v in two.v", "two.v in one.v", "more.v in one.v", "more.v in two.v"}


def test_columns_without_rows_are_in_all_where_null_is_a_value(lake_of):
    lake = lake_of({"full.csv": "v,k\na,1x\nb,2x\n", "bare.csv": "v,w\n"})
    assert len(lake.table("bare.csv").columns) == 2
    assert pairs(lake.inds(**EVERYTHING)) == set()
    found = pairs(lake.inds(null_equal=True, **EVERYTHING))
    assert {"bare.v in full.v", "bare.v in full.k", "bare.v in bare.w"} <= found
    assert not pairs(lake.inds(null_equal=True, **(EVERYTHING | {"coverage": 0.1}))) & {"bare.v in full.v"}


@pytest.mark.parametrize("share", ["-0.1", "1.1", "many", "1/0"])
def test_what_is_no_share(lake_of, share):
    with pytest.raises(InputError, match=r"share|coverage"):
        lake_of(PLANETS).inds(coverage=share)


def test_signatures_have_the_same_answer(shop):
    answers = [many.inclusion_dependencies(shop, parameters, NO_FILTERS).matches for parameters in SIGNATURES]
    assert answers == [shop.inds(**EVERYTHING).to_dicts()] * 2
    assert answers[0]
    work = [many.inclusion_dependencies(shop, parameters, NO_FILTERS).work for parameters in SIGNATURES]
    assert work[0].candidates < work[1].candidates
    assert work[0].signature_bytes > work[1].signature_bytes > 0


def test_what_signatures_do_not_answer(shop):
    partial = InclusionQuery(containment=as_share("partial", 0.9))
    with pytest.raises(InputError, match="whole inclusions only"):
        many.SignatureFinder(LakeColumns(shop.segments), partial)


@pytest.mark.parametrize("parameters", [{"bits": 0}, {"passes": 0}, {"strategy": "both"}, {"vectors": "sparse"}])
def test_parameters_of_signatures(parameters):
    with pytest.raises(InputError, match=r"strategy|at least 1"):
        many.BloomParameters(**parameters)


PLACES = {
    "cities.csv": "city,country,people\nParis,FR,2m\nParis,US,25t\nLyon,FR,500t\nAustin,US,1m\n",
    "shops.csv": "shop,town,land\nA,Paris,FR\nB,Paris,US\nC,Austin,US\nD,Paris,FR\n",
    "stalls.csv": "stall,town,land\nE,Lyon,US\nF,Paris,FR\n",
}


def test_several_columns_together(lake_of):
    (row,) = lake_of(PLACES).inds(nary=3).to_dicts()
    assert (row["dependent_table"], row["dependent_columns"]) == ("shops.csv", ["town", "land"])
    assert (row["referenced_table"], row["referenced_columns"]) == ("cities.csv", ["city", "country"])
    assert (row["containment"], row["coverage"]) == (1, 0.75)


@pytest.mark.parametrize("option", [{"partial": 0.9}, {"null_equal": True}])
def test_what_several_columns_do_not_go_with(lake_of, option):
    with pytest.raises(InputError, match="; drop `"):
        lake_of(PLACES).inds(nary=2, **option)


def test_an_empty_lake(lake_of):
    lake = lake_of({})
    assert len(lake.inds()) == 0
    assert len(lake.foreign_keys()) == 0
    assert lake.graph().components() == []
