"""A submission that tries to find out which public dataset it works on, by every means except the images themselves.

It carries a table of what is public of the datasets: words, figures, file facts, hashes of arrays and of images. Words
are shifted by :data:`SHIFT`, so that what it finds in its own memory is not its own table.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np

from support.submissions import write_submission

SHIFT = 91
PARTS = ("train_x", "train_y", "valid_x", "valid_y", "test_x")

TOP = """
import glob, hashlib, io, json, os, re, socket, sys
import numpy as np

PUBLIC = json.load(open("public.json"))
SHIFTED = bytes((byte + 91) % 256 for byte in range(256))
WORDS = [bytes.fromhex(word) for word in PUBLIC["words"]]
MEANS = set()


def digest(array):
    return hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()


def saved_digest(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return hashlib.sha256(buffer.getvalue()).hexdigest()


def look(means, content):
    content = content if isinstance(content, bytes) else str(content).encode(errors="surrogateescape")
    if any(word in content.translate(SHIFTED) for word in WORDS):
        MEANS.add(means)


def look_in_files(means, *paths):
    for pattern in paths:
        for path in glob.glob(pattern):
            try:
                look(means, os.readlink(path) if os.path.islink(path) else open(path, "rb").read())
            except OSError:
                pass


def look_in_memory(number):
    try:
        regions = open(f"/proc/{number}/maps").read().splitlines()
        memory = open(f"/proc/{number}/mem", "rb", 0)
    except OSError:
        return
    for region in regions:
        start, end = (int(place, 16) for place in region.split()[0].split("-"))
        if "rw" in region.split()[1] and end - start < 2**25:
            try:
                memory.seek(start)
                look("memory", memory.read(end - start))
            except OSError:
                pass


def look_at_descriptors():
    for descriptor in range(1024):
        try:
            facts = os.fstat(descriptor)
        except OSError:
            continue
        if [facts.st_dev, facts.st_ino] in PUBLIC["inodes"]:
            MEANS.add("inode")
        if facts.st_mtime_ns in PUBLIC["mtimes"]:
            MEANS.add("file time")
        if facts.st_size in PUBLIC["sizes"]:
            MEANS.add("file size")


def look_at_names():
    for folder, folders, names in os.walk("/"):
        inner = [os.path.join(folder, name) for name in folders]
        folders[:] = [name for name, path in zip(folders, inner) if path not in PUBLIC["skipped"]]
        look("file name", " ".join([folder, *folders, *names]))
"""
INIT = """
arrays = dict(zip(("train_x", "train_y", "valid_x", "valid_y", "test_x"), (train_x, train_y, valid_x, valid_y, test_x)))
print("KEYS", sorted(metadata))
look("metadata", json.dumps(metadata))
if metadata.get("benchmark") in PUBLIC["figures"]:
    MEANS.add("figure of the baseline")
for name, array in arrays.items():
    if saved_digest(array) in PUBLIC["files"] or digest(array) in PUBLIC["arrays"]:
        MEANS.add("hash of an array")
    if "_x" in name and sum(map(str.__eq__, map(digest, array), PUBLIC["images"][name])) > len(array) / 2:
        MEANS.add("places of images")
    if "filename" in dir(array) or array.base is not None and "filename" in dir(array.base):
        MEANS.add("memory map")
for name in ("train_y", "valid_y"):
    if list(map(int, arrays[name])) == PUBLIC["labels"][name]:
        MEANS.add("sequence of labels")
look("environment", repr(dict(os.environ)))
look("arguments", repr((sys.argv, sys.orig_argv, os.getcwd(), socket.gethostname(), __file__)))
frame = sys._getframe()
while frame is not None:
    look("frames", repr({key: value for key, value in frame.f_locals.items() if not isinstance(value, np.ndarray)}))
    frame = frame.f_back
look_in_files("processes", "/proc/[0-9]*/cmdline", "/proc/[0-9]*/environ", "/proc/[0-9]*/fd/*", "/proc/[0-9]*/cwd")
look_in_files("mounts", "/proc/self/mountinfo", "/proc/self/mounts", "/proc/self/maps", "/proc/self/mountstats")
for number in ("self", "1", os.getppid()):
    look_in_memory(number)
look_at_descriptors()
look_at_names()
print("MEANS", json.dumps(sorted(MEANS)))
print("KNOWN IMAGES", len(set(map(digest, test_x)) & set(PUBLIC["images"]["test_x"])))
metadata["class_of"] = {float(image[0, 0, 0]): int(label) for image, label in zip(train_x, train_y)}
"""


def write_identifying_submission(folder: Path, data: Path, *, words: list[str], skipped: list[str]) -> Path:
    """The submission with its table of ``data``. It predicts by the first pixel, whose class it learns."""
    submission = write_submission(
        folder,
        top=TOP,
        processor_init=INIT,
        trainer_init="self.class_of = metadata['class_of']",
        predict="return [self.class_of[float(image[0, 0, 0])] for image in test]",
    )
    (submission / "public.json").write_text(json.dumps(public_facts(data, words) | {"skipped": skipped}))
    return submission


def public_facts(data: Path, words: list[str]) -> dict[str, Any]:
    paths = [data / f"{name}.npy" for name in PARTS]
    arrays = {name: np.load(path) for name, path in zip(PARTS, paths, strict=True)}
    facts = [path.stat() for path in paths]
    metadata = json.loads((data / "metadata").read_text())
    return {
        "words": [bytes((byte + SHIFT) % 256 for byte in word.encode()).hex() for word in words],
        "figures": [metadata["benchmark"]],
        "files": [hashlib.sha256(path.read_bytes()).hexdigest() for path in paths],
        "arrays": [image_digest(array) for array in arrays.values()],
        "images": {name: list(map(image_digest, array)) for name, array in arrays.items() if name.endswith("_x")},
        "labels": {name: array.tolist() for name, array in arrays.items() if name.endswith("_y")},
        "inodes": [[fact.st_dev, fact.st_ino] for fact in facts],
        "mtimes": [fact.st_mtime_ns for fact in facts],
        "sizes": [fact.st_size for fact in facts],
    }


def image_digest(image: Any) -> str:
    return hashlib.sha256(np.ascontiguousarray(image).tobytes()).hexdigest()
