"""Model files with other contents than were written: right in form, with right checksums, wrong in what they say.

It imports nothing from infovec and writes the format itself. A mutation takes the members of a file, those of another
one, and a random generator; it returns members. ``mutated`` draws one, or several, and packs them.
"""

import copy
import hashlib
import io
import json
import zipfile
from collections.abc import Iterator

import numpy as np

__all__ = ["MUTATIONS", "members", "mutated", "pack", "places"]

Members = dict[str, bytes]
MODEL, HEAD, SUMS = "model.json", "infovec.json", "SHA256SUMS"

_DEEP: object = 1
for _ in range(90):
    _DEEP = [_DEEP]
_KERNEL = {"kind": "object", "class": "RBF", "fields": {"length_scale": 1.0, "variance": 1.0}}
_MANY = _KERNEL
for _ in range(60):
    _MANY = {"kind": "object", "class": "Sum", "fields": {"left": _MANY, "right": _KERNEL}}
STRANGE = [
    None, True, False, -1, 0, 1, 2, 3, 7, 625, 10**9, 2**31, 2**63, 10**18, 10**40, 10**400, -(10**9), 0.5, -0.5, 1e300,
    -1e300, 1e-300, 5e-324, "", "x", "RBF", "nan", "auto", "probit", "balanced", "\ud800", "\x1b[31m", "a" * 20_000, [],
    [[]], [1, "x", None], {}, {"a": 1}, [0] * 1000, _DEEP, _MANY, _KERNEL,
    {"kind": "absent"}, {"kind": "dict", "items": {}}, {"kind": "dict", "items": {"a": 1}},
    {"kind": "tuple", "items": []}, {"kind": "tuple", "items": ["a", 1]},
    {"kind": "objects", "items": [1, "x", None]}, {"kind": "objects", "items": [[], []]},
    {"kind": "float", "value": "nan"}, {"kind": "float", "value": "inf"}, {"kind": "float", "value": "-inf"},
    {"kind": "type", "name": "float32"}, {"kind": "dtype", "name": "float64"},
    {"kind": "object", "class": "White", "fields": {"variance": 1.0}},
    {"kind": "object", "class": "Bias", "fields": {"variance": {"kind": "float", "value": "nan"}}},
    {"kind": "object", "class": "Periodic", "fields": {"kernel": _KERNEL, "period": 1.0}},
    {"kind": "object", "class": "Probit", "fields": {"bias": 0.0, "slope": 1.0, "spread": 1.0}},
    {"kind": "object", "class": "Gaussian", "fields": {"variance": 1.0, "bias": 0.0}},
    {"kind": "object", "class": "Softmax", "fields": {}},
    {"kind": "object", "class": "Poisson", "fields": {"bias": 700.0}},
    {"kind": "function", "name": "print"}, {"kind": "own", "class": "Twice", "fields": {}},
]  # fmt: skip
"""Values that may stand anywhere."""


def members(raw: bytes) -> Members:
    """Return the members of a file, without the checksums."""
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        return {name: file.read(name) for name in file.namelist() if name != SUMS}


def pack(parts: Members) -> bytes:
    """Return a file of members, with its checksums."""
    sums = "".join(f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in parts.items())
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_STORED) as file:
        for name, text in {**parts, SUMS: sums.encode()}.items():
            file.writestr(zipfile.ZipInfo(name), text)
    return out.getvalue()


def places(tree: object, path: tuple = ()) -> Iterator[tuple]:
    """Yield the path of every value of a tree but the root."""
    if path:
        yield path
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


def _at(tree, path):
    for key in path:
        tree = tree[key]
    return tree


def _pick(tree, rng, path_of=None):
    """Return a place at random: first how deep, so that the few fields near the root are not lost among the many."""
    found = [path for path in places(tree) if path_of is None or path_of(_at(tree, path))]
    depths = sorted({len(path) for path in found})
    depth = depths[rng.integers(len(depths))]
    found = [path for path in found if len(path) == depth]
    return found[rng.integers(len(found))]


def _with(parts, tree, name=MODEL):
    return {**parts, name: json.dumps(tree).encode()}


def _set(tree, path, value):
    _at(tree, path[:-1])[path[-1]] = value


def _strange(rng):
    return copy.deepcopy(STRANGE[rng.integers(len(STRANGE))])


def field(parts: Members, other: Members, rng: np.random.Generator) -> Members:
    """Put a strange value in the place of another."""
    name = MODEL if rng.random() < 0.95 else HEAD
    tree = json.loads(parts[name])
    _set(tree, _pick(tree, rng), _strange(rng))
    return _with(parts, tree, name)


def number(parts: Members, other: Members, rng: np.random.Generator) -> Members:
    """Change a number a little, or a lot, wherever it stands with the same name: a kernel stands in several places."""
    tree = json.loads(parts[MODEL])
    path = _pick(tree, rng, lambda v: type(v) in (int, float))
    old = _at(tree, path)
    choices = [2 * old, old + 1, -old, 0, 1.01 * old, 1e-9, 1e9, 10**400, -1, 1e300, 1e-300, 624, 625, 2**32]
    new = choices[rng.integers(len(choices))]
    new = int(new) if type(old) is int and rng.random() < 0.8 else new
    same = [p for p in places(tree) if p[-1] == path[-1] and _at(tree, p) == old] if rng.random() < 0.5 else [path]
    for p in same:
        _set(tree, p, new)
    return _with(parts, tree)


def dropped(parts: Members, other: Members, rng: np.random.Generator) -> Members:
    """Leave out an entry."""
    tree = json.loads(parts[MODEL])
    path = _pick(tree, rng)
    del _at(tree, path[:-1])[path[-1]]
    return _with(parts, tree)


def added(parts: Members, other: Members, rng: np.random.Generator) -> Members:
    """Add an entry to an object or a list."""
    tree = json.loads(parts[MODEL])
    holder = _at(tree, _pick(tree, rng, lambda v: isinstance(v, dict | list)))
    if isinstance(holder, list):
        holder.insert(int(rng.integers(len(holder) + 1)), _strange(rng))
    else:
        names = ["more", "strange_", "_state", "__class__", "coef_", "weight", "kind", *holder]
        holder[names[rng.integers(len(names))]] = _strange(rng)
    return _with(parts, tree)


def exchanged(parts: Members, other: Members, rng: np.random.Generator) -> Members:
    """Exchange two values of the same file."""
    tree = json.loads(parts[MODEL])
    a, b = _pick(tree, rng), _pick(tree, rng)
    if a[: len(b)] == b or b[: len(a)] == a:
        return parts
    one, two = _at(tree, a), _at(tree, b)
    _set(tree, a, two)
    _set(tree, b, one)
    return _with(parts, tree)


def grafted(parts: Members, other: Members, rng: np.random.Generator) -> Members:
    """Take a value, with its arrays, from another file: mostly from the same place."""
    tree, theirs = json.loads(parts[MODEL]), json.loads(other[MODEL])
    path = _pick(tree, rng)
    try:
        value = copy.deepcopy(_at(theirs, path if rng.random() < 0.8 else _pick(theirs, rng)))
    except (KeyError, IndexError, TypeError):
        value = copy.deepcopy(_at(theirs, _pick(theirs, rng)))
    parts, renamed = dict(parts), {}
    for inner in [(), *places(value)]:
        holder = _at(value, inner)
        if isinstance(holder, dict) and holder.get("kind") == "array":
            name = holder["member"]
            if name not in renamed:
                renamed[name] = f"arrays/{500 + len(renamed)}.npy"
                parts[renamed[name]] = other[name]
            holder["member"] = renamed[name]
    _set(tree, path, value)
    return _without_unused(_with(parts, tree), tree)


def _without_unused(parts, tree):
    used = {_at(tree, p)["member"] for p in places(tree) if _is_array(_at(tree, p))}
    return {name: text for name, text in parts.items() if not name.startswith("arrays/") or name in used}


def _is_array(value):
    return isinstance(value, dict) and value.get("kind") == "array" and isinstance(value.get("member"), str)


def array(parts: Members, other: Members, rng: np.random.Generator) -> Members:
    """Give an array another shape, type or contents, and declare what is then there."""
    tree = json.loads(parts[MODEL])
    declared = [_at(tree, path) for path in places(tree) if _is_array(_at(tree, path))]
    name = declared[rng.integers(len(declared))]["member"]
    old = np.load(io.BytesIO(parts[name]))
    new = np.asarray(_other_array(old, rng))
    out = io.BytesIO()
    np.lib.format.write_array(out, new, version=(1, 0))
    columns = new.flags.f_contiguous and not new.flags.c_contiguous
    for entry in declared:
        if entry["member"] == name:
            entry.update(dtype=new.dtype.newbyteorder("<").str, shape=list(new.shape), order="F" if columns else "C")
    return _with({**parts, name: out.getvalue()}, tree)


def _other_array(old, rng):
    kind = rng.integers(9)
    if kind == 0:  # another shape
        shapes = [old.reshape(-1), old[None], old[:-1] if old.ndim else old, old.T, np.atleast_1d(old)[:0],
                  np.concatenate([np.atleast_1d(old)] * 2), np.zeros((3, 3, 3)), np.array(1.0)]  # fmt: skip
        return np.array(shapes[rng.integers(len(shapes))])
    if kind == 1:  # another type
        types = ["<f4", "<f8", "<i8", "<u2", "|b1", "<U5", "|S3", "|i1"]
        if old.dtype.kind in "US":
            return np.arange(old.size, dtype="<i8").reshape(old.shape)
        with np.errstate(all="ignore"):
            return old.astype(types[rng.integers(len(types))])
    if old.size == 0:
        return np.ones(3)
    new = old.copy()
    at = tuple(rng.integers(n) for n in old.shape)
    if old.dtype.kind in "US":
        new[at] = new.ravel()[0] if kind < 5 else "zz"
    elif old.dtype.kind == "b":
        new[at] = not new[at]
    elif old.dtype.kind in "iu":
        info = np.iinfo(old.dtype)
        new[at] = rng.choice(np.array([info.max, info.min, 0, 1, min(10**9, info.max)], dtype=old.dtype))
        if kind == 8:
            new[...] = new[at]
    else:
        values = [np.nan, np.inf, -np.inf, 0.0, -1.0, 1e300, -1e300, 1e-300, 1e30, 2.0 * float(new[at])]
        value = values[rng.integers(len(values))]
        if kind == 8:
            new[...] = value
        else:
            new[at] = value
    return new


def state(parts: Members, other: Members, rng: np.random.Generator) -> Members:
    """Give the model a random state that is none."""
    tree, parts = json.loads(parts[MODEL]), dict(parts)
    keys = [
        np.arange(624, dtype="<u4"),
        np.zeros(624, "<u4"),
        np.ones(623, "<u4"),
        np.ones(624),
        np.ones((2, 312), "<u4"),
    ]
    key, out = keys[rng.integers(len(keys))], io.BytesIO()
    np.lib.format.write_array(out, key, version=(1, 0))
    parts["arrays/900.npy"] = out.getvalue()
    declared = {"dtype": key.dtype.str, "shape": list(key.shape), "order": "C"}
    position = [0, 1, 624, 625, 100_000, -1, 2**31, 2**63, 1.5, "1"][rng.integers(10)]
    params = tree["model"]["fields"]["model"]["fields"]["params"]["items"]
    params["random_state"] = {
        "kind": "object", "class": "RandomState",
        "fields": {
            "key": {"kind": "array", "member": "arrays/900.npy", **declared},
            "position": position, "has_gauss": [0, 1, 2, -1][rng.integers(4)],
            "gauss": [0.0, 1e300, {"kind": "float", "value": "nan"}][rng.integers(3)],
        },
    }  # fmt: skip
    return _without_unused(_with(parts, tree), tree)


def wide(parts: Members, other: Members, rng: np.random.Generator) -> Members:
    """Declare other sizes of sparse matrices, alone or with the number of columns."""
    tree = json.loads(parts[MODEL])
    columns = int(rng.choice([0, 1, 2, 5, 10**6, 2 * 10**8, 2**31 - 1, 2**31, 2**62]))
    for path in list(places(tree)):
        value = _at(tree, path)
        if isinstance(value, dict) and value.get("kind") == "csr" and isinstance(value.get("shape"), list):
            value["shape"] = [*value["shape"][:1], columns]
        elif path[-1] == "n_features_in_" and rng.random() < 0.8:
            _set(tree, path, columns)
    return _with(parts, tree)


MUTATIONS = {
    field: 30, number: 10, dropped: 8, added: 8, exchanged: 6, grafted: 14, array: 20, state: 3, wide: 1,
}  # fmt: skip
"""Kinds of mutations, and how often each is drawn."""


def mutated(parts: Members, other: Members, rng: np.random.Generator) -> tuple[str, bytes]:
    """Return what was done to a file, and the file; now and then several things are done."""
    kinds, weights = list(MUTATIONS), np.array(list(MUTATIONS.values()), dtype=float)
    done = []
    for _ in range(1 if rng.random() < 0.8 else int(rng.integers(2, 4))):
        kind = kinds[rng.choice(len(kinds), p=weights / weights.sum())]
        try:
            parts = kind(parts, other, rng)
        except (KeyError, IndexError, TypeError, ValueError, OverflowError):
            continue  # what an earlier one left cannot be changed this way
        done.append(kind.__name__)
    return "+".join(done), pack(parts)
