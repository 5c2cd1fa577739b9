"""Options: none is passed over in silence, whether it lists names or has one value."""

import click
import numpy as np
import pytest
from click.testing import CliRunner

from infovec.cli.commands import infovec
from infovec.cli.model import load_model
from infovec.cli.parameters import Single, picked

RNG = np.random.default_rng(0)


def run(*arguments, code=0):
    result = CliRunner().invoke(infovec, [str(a) for a in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = ['id,a,"last, first",day,floor,y']
    for i in range(120):
        lines.append(
            f'{i},{RNG.normal():.3f},"n{i}, m{i}",2024-01-{i % 28 + 1:02d},{i % 3},{"hi lo"[3 * (i % 2) :][:2]}'
        )
    (tmp_path / "x.csv").write_text("\n".join(lines) + "\n")
    return ("fit", "x.csv", "-t", "y", "-o", "m.ivm", "--active", 20)


@pytest.mark.parametrize(
    "drops",
    [("id,day", "last, first"), ("id", "day", "last, first"), ("last, first", "day,id")],
)
def test_names_add_up_where_an_option_is_repeated(table, drops):
    """A leak that is named in an earlier one stays out of the model; a name may have a comma."""
    run(*table, *(text for drop in drops for text in ("--drop", drop)))
    assert load_model("m.ivm").table.features == ("a", "floor")


def test_categories_dates_orders_and_columns_that_are_kept_add_up(table):
    more = ("--categorical", "floor", "--categorical", "id", "--dates", "day", "--drop", "last, first")
    run(*table, *more, "--order", "lo", "--order", "hi")
    known = load_model("m.ivm")
    assert [column.name for column in known.table.words] == ["id", "floor"]
    assert list(known.dates) == ["day"]
    assert known.estimator.categories_.tolist() == ["lo", "hi"]
    kept = run("predict", "m.ivm", "x.csv", "--keep", "id", "--keep", "last, first", "--keep", "a,day").stdout
    assert kept.splitlines()[0] == 'id,"last, first",a,day,prediction'


def test_a_name_with_a_comma_is_pasted_as_one(table):
    said = run(*table, "--drop", "id", code=1).stderr
    assert "--drop 'last, first' --drop id --dates day" in said
    run(*table, "--drop", "last, first", "--drop", "id", "--dates", "day")


def test_names_of_lists_are_between_commas_unless_they_are_known_whole():
    assert picked(["a, b", "c"], ("a", "b", "c")) == ("a", "b", "c")
    assert picked(["a, b", "c,a"], ("a, b", "c")) == ("a, b", "c", "a")
    assert picked([], ("a",)) == picked([","], ("a",)) == ()


@pytest.mark.parametrize(
    ("again", "said"),
    [
        (("--target", "floor"), "--target is given more than once, as y, floor"),
        (("--active", 9), "--active is given more than once, as 20, 9"),
        (("--kernel", "rbf", "--kernel", "linear"), "--kernel is given more than once"),
        (("--dates", "day", "--date-format", "day=%Y-%m-%d", "--date-format", "day=%Y-%d-%m"), "is written in one way"),
    ],
)
def test_one_value_is_not_replaced_in_silence(table, again, said):
    assert said in run(*table, *again, code=2).stderr
    run(*table, "--drop", "id,day", "--drop", "last, first", "--target", "y")  # the same again says nothing else


def test_all_options_are_of_the_kind_that_sees_to_it():
    for name, command in infovec.commands.items():
        for parameter in command.params:
            alone = not isinstance(parameter, click.Option) or parameter.is_flag
            assert alone or isinstance(parameter, Single), (name, parameter.name)


def test_ordered_classes_are_told_in_their_order(table):
    said = run(*table, "--drop", "id,day", "--drop", "last, first", "--order", "lo,hi").stderr
    assert "2 ordered classes (lo, hi)" in said
    assert (
        "for example --order low,middle,high"
        in run("fit", "x.csv", "-t", "day", "--task", "ordinal", "-o", "m.ivm", "--drop", "last, first", code=1).stderr
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--delta", "0.05"), "--delta is for --certify SHARE"),
        (("--kernel", "rfb"), "--kernel: "),
        (("--likelihood", "probet"), "choose probit, logit, gaussian"),
        (("--likelihood", "poisson", "--task", "classify"), "there is none such for --task classify; choose probit"),
    ],
)
def test_what_cannot_be_meant_is_said_before_anything_is_read(options, said):
    """There is no such table."""
    assert said in run("fit", "absent.csv", "-t", "y", "-o", "m.ivm", *options, code=2).stderr


def test_messages_name_options_and_no_parameters_of_python(table):
    said = run(*table, "--drop", "id,day", "--drop", "last, first", "--memory", "1kB", code=1).stderr
    assert "Raise --memory or lower --active" in said
