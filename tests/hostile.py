"""Model files that were damaged, altered or made up. It imports nothing from infovec and writes the format itself."""

import copy
import hashlib
import io
import json
import struct
import zipfile

import numpy as np

__all__ = ["CORRUPTIONS", "members", "pack"]

BOMB = zipfile.ZIP_DEFLATED


def members(raw):
    """Return the members of a zip in memory, in order."""
    with zipfile.ZipFile(io.BytesIO(raw)) as file:
        return {info.filename: file.read(info) for info in file.infolist()}


def pack(parts, sums=True, compression=zipfile.ZIP_STORED):
    """Return a zip of members given as a dict or a list of pairs, with new checksums if wanted."""
    pairs = [(n, t) for n, t in (parts.items() if isinstance(parts, dict) else parts) if not sums or n != "SHA256SUMS"]
    if sums:
        lines = "".join(f"{hashlib.sha256(text).hexdigest()}  {name}\n" for name, text in pairs)
        pairs.append(("SHA256SUMS", lines.encode()))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as file:
        for name, text in pairs:
            info = zipfile.ZipInfo(name)
            info.compress_type = compression
            file.writestr(info, text)
    return out.getvalue()


def flipped(raw, rng):
    raw = bytearray(raw)
    for _ in range(rng.integers(1, 4)):
        raw[rng.integers(len(raw))] ^= 1 << int(rng.integers(8))
    return bytes(raw)


def flipped_at_the_ends(raw, rng):
    """A bit of the directory, where zip keeps sizes and places, or of the first header."""
    at = int(rng.integers(60)) if rng.random() < 0.2 else len(raw) - 1 - int(rng.integers(1500))
    return raw[:at] + bytes([raw[at] ^ (1 << int(rng.integers(8)))]) + raw[at + 1 :]


def truncated(raw, rng):
    cut = raw[: rng.integers(len(raw))]
    return cut if rng.random() < 0.7 else raw[rng.integers(1, len(raw)) :]


def overwritten(raw, rng):
    at, size = int(rng.integers(len(raw))), int(rng.integers(1, 200))
    block = rng.integers(256, size=size, dtype=np.uint8).tobytes() if rng.random() < 0.5 else bytes(size)
    return raw[:at] + block + raw[at + (size if rng.random() < 0.5 else 0) :]


def swapped(raw, rng):
    """Two members have each other's contents, or each other's place."""
    pairs = list(members(raw).items())
    i, j = rng.choice(len(pairs) - 1, size=2, replace=False)
    if rng.random() < 0.7:
        pairs[i], pairs[j] = (pairs[i][0], pairs[j][1]), (pairs[j][0], pairs[i][1])
    else:
        pairs[i], pairs[j] = pairs[j], pairs[i]
    return pack(pairs, sums=bool(rng.random() < 0.7))


def lost_or_doubled(raw, rng):
    """A member is missing, twice there, or one too many."""
    pairs = list(members(raw).items())
    at, kind = int(rng.integers(len(pairs))), rng.integers(4)
    if kind == 0:
        del pairs[at]
    elif kind == 1:
        pairs.insert(int(rng.integers(len(pairs))), pairs[at])
    else:
        names = [
            "arrays/999.npy",
            "../outside.npy",
            "/tmp/outside.npy",
            "arrays/../../outside",
            "model.json\0.npy",
            "",
            "a\\b",
        ]
        pairs.insert(at, (str(rng.choice(names)), b"\x93NUMPY" + bytes(40)))
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of the same name twice
        return pack(pairs, sums=bool(rng.random() < 0.7))


def edited_text(raw, rng):
    """A member of text with other characters, checksums as they were."""
    parts = members(raw)
    name = str(rng.choice(["model.json", "infovec.json", "SHA256SUMS"]))
    text = bytearray(parts[name])
    for _ in range(rng.integers(1, 4)):
        text[rng.integers(len(text))] = int(rng.choice(list(b'0123456789abcdef"{}[]:, x')))
    parts[name] = bytes(text)
    return pack(parts, sums=False)


STRANGE = [
    None, True, -1, 0, 2, 7, 10**9, 10**18, 10**40, -0.5, 1e300, 1e-300, "", "RBF", "Sum", "White", "Probit",
    "os.system", "__class__", "arrays/0.npy", "arrays/1.npy", "../../etc/passwd", "|O", "<f8", "F", [], [[]], {},
    {"kind": "absent"}, {"kind": "dict", "items": {}}, {"kind": "function", "name": "print"},
    {"kind": "object", "class": "RandomState", "fields": {}}, {"kind": "own", "class": "Twice", "fields": {}},
    {"kind": "array", "member": "arrays/0.npy", "dtype": "|O", "shape": [1], "order": "C"},
    {"kind": "array", "member": "arrays/0.npy", "dtype": "<f8", "shape": [2**40, 2**40], "order": "C"},
    {"kind": "objects", "items": [1, "x", None]}, {"kind": "float", "value": "nan"}, {"kind": "tuple", "items": []},
]  # fmt: skip


def places(tree, path=()):
    """Yield the path of every value of a tree."""
    yield path
    inner = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, value in inner:
        yield from places(value, (*path, key))


def edited_json(raw, rng):
    """The description of the model with another value somewhere, and all checksums right."""
    parts = members(raw)
    name = "model.json" if rng.random() < 0.9 else "infovec.json"
    tree = json.loads(parts[name])
    for _ in range(rng.integers(1, 3)):
        path = list(places(tree))[1:]
        path = path[rng.integers(len(path))]
        holder = tree
        for key in path[:-1]:
            holder = holder[key]
        holder[path[-1]] = new_value(holder[path[-1]], rng)
        if rng.random() < 0.1:
            del holder[path[-1]]
        elif rng.random() < 0.1 and isinstance(holder, dict):
            holder["more"] = 1
    parts[name] = json.dumps(tree).encode()
    return pack(parts)


def new_value(old, rng):
    if type(old) in (int, float) and rng.random() < 0.6:
        return type(old)(rng.choice([old * 2, old + 1, -old, old * 1.01, 0]))
    if isinstance(old, str) and rng.random() < 0.3:
        return old + str(rng.choice(["x", "\0", "é", "\ud800" if rng.random() < 0.1 else "/"]))
    return copy.deepcopy(STRANGE[rng.integers(len(STRANGE))])


def edited_array(raw, rng):
    """The header or the declared shape of an array changed, or the array replaced, and all checksums right."""
    parts = members(raw)
    arrays = [name for name in parts if name.endswith(".npy")]
    name = arrays[rng.integers(len(arrays))]
    kind = rng.integers(5)
    out = io.BytesIO()
    if kind == 0:  # a pickle
        np.save(out, np.array([{"a": 1}, None], dtype=object), allow_pickle=True)
    elif kind == 1:  # shapes that are not there
        np.lib.format.write_array_header_1_0(out, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**3)})
    elif kind == 2:
        np.save(out, np.full(int(rng.integers(50)), np.nan))
    elif kind == 3:
        np.save(out, np.zeros(5, dtype=[("a", "<f8"), ("b", "<i4")]))
    else:
        out.write(parts[name][: rng.integers(len(parts[name]))])
    parts[name] = out.getvalue()
    if kind == 1:  # and the JSON says the same
        parts["model.json"] = parts["model.json"].replace(b'"shape": [\n', b'"shape": [\n 1000000000, 1000,\n', 1)
    return pack(parts)


def bomb(raw, rng):
    """Members that are, or claim to be, far larger than the file."""
    parts = members(raw)
    kind = rng.integers(6)
    if kind == 0:  # 24 MiB of zeros in 24 kB
        parts[str(rng.choice(["model.json", "infovec.json", "arrays/0.npy"]))] = bytes(24 * 2**20)
        return pack(parts, compression=BOMB)
    if kind == 1:
        return pack(parts, compression=BOMB)
    if kind == 2:  # nested JSON
        parts["model.json"] = b"[" * int(rng.integers(10**3, 10**6))
        return pack(parts)
    if kind == 3:  # a number of many digits, or many small things
        text = b"9" * 10**6 if rng.random() < 0.5 else b"[" + b"[]," * (5 * 10**6) + b"[]]"
        parts["model.json"] = b'{"model": ' + text + b', "extra": null}'
        return pack(parts)
    if kind == 4:  # sizes in the directory
        return lying(raw, rng)
    pairs = [*parts.items(), *((f"arrays/{i}.npy", b"") for i in range(1000, 4000))]  # thousands of members
    return pack(pairs)


def lying(raw, rng):
    """A directory whose entry says that a member is huge, or starts elsewhere."""
    raw = bytearray(raw)
    entries = [i for i in range(len(raw)) if raw[i : i + 4] == b"PK\1\2"]
    entry = int(entries[rng.integers(len(entries))])
    offsets = {"sizes": (20, 24), "size": (24,), "place": (42,), "method": (10,)}[
        str(rng.choice(["sizes", "size", "place", "method"]))
    ]
    value = int(rng.choice([0, 1, 8, 100, 2**31, 2**32 - 1]))
    for offset in offsets:
        struct.pack_into(
            "<H" if offset == 10 else "<L", raw, entry + offset, value % (2**16 if offset == 10 else 2**32)
        )
    return bytes(raw)


CORRUPTIONS = {  # how many of each
    flipped: 600,
    flipped_at_the_ends: 300,
    truncated: 200,
    overwritten: 150,
    swapped: 100,
    lost_or_doubled: 100,
    edited_text: 100,
    edited_json: 300,
    edited_array: 90,
    bomb: 60,
}
