"""Files that are not quite models: refused with one clear error, or as good as ever, and never executed."""

import io
import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from fixed import IVMClassifier
from hostile import CORRUPTIONS, members, pack

import infovec
from infovec import load
from infovec.errors import ModelFileError
from infovec.kernels import RBF, White

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=80) > 0, "yes", "no")
    kernel = RBF(np.array([1.0, 2.0, 3.0]), 4.0) + White(0.1)
    path = tmp_path_factory.mktemp("saved") / "model.ivm"
    IVMClassifier(kernel=kernel, n_active=14, random_state=0).fit(X, y).save(path, extra={"note": "hello"})
    np.save(path.with_name("inputs.npy"), X)
    return path


def run(*command):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(TESTS), str(Path(infovec.__file__).parents[1])])}
    done = subprocess.run(
        [sys.executable, str(TESTS / "trials.py"), *map(str, command)],
        capture_output=True, text=True, timeout=120, env={**environment, "OPENBLAS_NUM_THREADS": "1"}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.mark.skipif(sys.platform != "linux", reason="memory is limited and measured as Linux does")
def test_two_thousand_corruptions(saved):
    before = sorted(os.listdir(saved.parent))
    told = run("corrupt", saved, saved.with_name("inputs.npy"))
    assert sum(CORRUPTIONS.values()) == 2000
    assert sum(sum(counts.values()) for counts in told["outcomes"].values()) == 2000
    for kind, counts in told["outcomes"].items():
        assert set(counts) <= {"rejected", "same", "unchanged"}, kind
        assert counts["rejected"] >= 0.3 * sum(counts.values()), kind
    assert told["slowest"][0] < 5.0, told["slowest"]
    assert told["peak"] < 1e9
    assert sorted(os.listdir(saved.parent)) == before


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_killed_while_saving(saved, tmp_path):
    told = run("kill", tmp_path, saved)
    assert told["broken"] == []
    assert len(told["seen"]) == 50
    assert len(set(told["seen"])) > 5  # some got done
    assert told["interrupted"] > 5  # some did not
    assert told["left"] == 0  # the next one to save tidies up


def refused(saved, raw, message):
    path = saved.with_name("altered.ivm")
    path.write_bytes(raw)
    with pytest.raises(ModelFileError, match=message):
        load(path)
    path.unlink()


def with_json(saved, change, name="model.json", sums=True):
    parts = members(saved.read_bytes())
    tree = json.loads(parts[name])
    change(tree)
    parts[name] = json.dumps(tree).encode()
    return pack(parts, sums=sums)


def test_the_maker_of_altered_files_makes_good_ones_too(saved, tmp_path):
    path = tmp_path / "same.ivm"
    path.write_bytes(with_json(saved, lambda tree: None))
    X = np.load(saved.with_name("inputs.npy"))
    np.testing.assert_array_equal(load(path).predict_proba(X), load(saved).predict_proba(X))


def test_a_later_version(saved):
    raw = with_json(saved, lambda tree: tree.update(version=2), "infovec.json", sums=False)
    refused(saved, raw, r"format version 2, and this infovec reads up to 1: upgrade infovec")
    refused(saved, with_json(saved, lambda t: t.update(version=True), "infovec.json"), "another format")
    refused(saved, with_json(saved, lambda t: t.update(format="other"), "infovec.json"), "another format")


def test_truncated_and_empty(saved):
    raw = saved.read_bytes()
    refused(saved, raw[:-1], "truncated, or no model file at all")
    refused(saved, raw[: len(raw) // 2], "truncated, or no model file at all")
    refused(saved, b"", "truncated, or no model file at all")
    refused(saved, b"a,b\n1,2\n" * 100, "truncated, or no model file at all")
    refused(saved, b"#!/bin/sh\n" + raw, "truncated or something was added")
    refused(saved, raw[:-22] + bytes(9) + raw[-22:], "truncated or something was added")


def test_altered_members_and_sums(saved):
    parts = members(saved.read_bytes())
    for name in parts:
        altered = {**parts, name: parts[name].replace(b"1", b"2", 1) if b"1" in parts[name] else parts[name] + b"1"}
        refused(saved, pack(altered, sums=False), "altered|declared|does not list|not have the contents")
    note = with_json(saved, lambda tree: tree["extra"]["items"].update(note="HELLO"), sums=False)
    refused(saved, note, "model.json was altered: its SHA-256 differs")


@pytest.mark.parametrize(
    "name", ["../evil.npy", "/etc/evil.npy", "arrays/../../evil.npy", "arrays\\evil.npy", "evil.py"]
)
def test_names_that_lead_elsewhere(saved, name):
    parts = members(saved.read_bytes())
    refused(saved, pack({**parts, name: b"x"}), "a member is called .*, which none of a model file is")


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_the_same_member_twice_and_members_too_many(saved):
    parts = members(saved.read_bytes())
    refused(saved, pack([*parts.items(), ("model.json", b"{}")]), "two members have the same name")
    refused(saved, pack({**parts, "arrays/77.npy": b""}), "parts that do not belong to the model")
    del parts["model.json"]
    refused(saved, pack(parts), "it has no member model.json")


def test_bombs(saved):
    parts = members(saved.read_bytes())
    refused(saved, pack(parts, compression=zipfile.ZIP_DEFLATED), "is compressed, which no member")
    refused(saved, pack({**parts, "model.json": b"[" * 10**5}), "damaged or no model file|nested|RecursionError")
    refused(saved, pack({**parts, "model.json": bytes(17 * 2**20)}), "model.json is larger than")
    raw = bytearray(saved.read_bytes())
    directory = raw.index(b"PK\1\2")
    raw[directory + 20 : directory + 28] = b"\xff\xff\xff\x7f" * 2  # the first member claims to have 2 GiB
    refused(saved, bytes(raw), "does not follow the member before it")


def test_declared_shapes_are_compared_before_memory_is_taken(saved):
    def grow(tree):
        posterior = tree["model"]["fields"]["model"]["fields"]["fitted"]["items"]["posterior_"]
        posterior["fields"]["L"]["shape"] = [10**9, 10**9]

    refused(saved, with_json(saved, grow), r"bytes, but 8000000000000000128 are declared")


class Evil:
    def __reduce__(self):
        return (os.mkdir, ("executed",))


def test_pickles_are_never_read(saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = io.BytesIO()
    np.save(out, np.array([Evil()], dtype=object), allow_pickle=True)
    parts = members(saved.read_bytes())
    refused(saved, pack({**parts, "arrays/0.npy": out.getvalue()}), "bytes, but|header of")

    def objects(tree):
        array = tree["model"]["fields"]["model"]["fields"]["fitted"]["items"]["classes_"]
        array.update(dtype="|O", shape=[1])

    refused(saved, with_json(saved, objects), r"arrays of type \|O cannot be in a model file")
    assert os.listdir(tmp_path) == []


def test_only_known_classes_are_built(saved):
    def name(kind, cls):
        def change(tree):
            tree["model"]["fields"]["model"]["fields"]["fitted"]["items"]["kernel_"] = {
                "kind": kind, "class": cls, "fields": {},
            }  # fmt: skip

        return change

    refused(saved, with_json(saved, name("object", "Popen")), "'Popen', which this version of infovec does not know")
    refused(saved, with_json(saved, name("own", "Popen")), r"needs the class Popen.*kernels=\[Popen\]")
    refused(saved, with_json(saved, name("eval", "Popen")), "nothing of the kind 'eval' is known")
    refused(saved, with_json(saved, name("object", "IVMClassifier")), "cannot be loaded")


def test_values_that_cannot_be_and_other_models(saved):
    def kernel(**changes):
        def change(tree):
            fitted = tree["model"]["fields"]["model"]["fields"]["fitted"]["items"]
            for place in (fitted["kernel_"], fitted["posterior_"]["fields"]["kernel"]):
                place["fields"]["left"]["fields"].update(changes)

        return change

    refused(saved, with_json(saved, kernel(variance=-1.0)), "value that cannot be: RBF: variance must be positive")
    refused(saved, with_json(saved, kernel(variance=4.1)), "does not predict what it did when it was saved")
    refused(saved, with_json(saved, kernel(colour="red")), r"fields of RBF differ: unknown \['colour'\]")
    refused(saved, with_json(saved, lambda tree: tree["model"].update(kind="dict")), "cannot be loaded")
    raw = with_json(saved, lambda tree: None).replace(b'"note": "hello"', b'"note": NaN    ')
    refused(saved, raw, "cannot be loaded")
