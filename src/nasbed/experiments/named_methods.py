"""Which search method is meant: an id, a class in a file, or a class itself; its name, its settings, its seeds."""

from __future__ import annotations

import re
import sys
from hashlib import blake2b
from inspect import signature
from pathlib import Path

from nasbed.core.code_fingerprint import named_file
from nasbed.core.errors import InvalidOption, shorten
from nasbed.core.user_code import subclass_named
from nasbed.experiments.provenance import Method
from nasbed.optimizers import OPTIMIZERS, Optimizer

NAME = re.compile(r"\w[\w .()-]{0,59}")
"""The valid names of methods: runs are files of this name."""
SEED_BYTES = 16
"""The length of the number that separates the random numbers of methods. Ids up to this length are that number."""


def optimizer_class(method: Method) -> type[Optimizer]:
    """A registered method by its id, a user's own class as ``path/to/file.py:ClassName``, or a class itself."""
    if isinstance(method, type):
        return method
    if named_file(method) is None:
        return OPTIMIZERS.get(method)
    kind: type[Optimizer] = subclass_named(method, Optimizer)
    return kind


def settings_of(method: Method) -> list[str]:
    """The names of a method's settings: the parameters of its class except problem and random generator."""
    takes = list(signature(optimizer_class(method)).parameters.values())[2:]
    return [
        parameter.name
        for parameter in takes
        if parameter.kind in (parameter.KEYWORD_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    ]


def known_method(method: Method) -> Method:
    """The method itself; a class of the registry by its id, so that both make the same runs."""
    if isinstance(method, str):
        return method
    if not (isinstance(method, type) and issubclass(method, Optimizer)):
        raise InvalidOption(
            f"a method is an id, file.py:ClassName or a subclass of nasbed.Optimizer, got {shorten(method)}; known: "
            f"{', '.join(OPTIMIZERS)}"
        )
    name = vars(method).get("name")
    return name if isinstance(name, str) and name in OPTIMIZERS and OPTIMIZERS.get(name) is method else method


def short_name(method: Method) -> str:
    """The name of this method's runs: the id of a registered one. For a user's own it is the ``name`` that its class
    sets, or else the name of the class."""
    method = known_method(method)
    if isinstance(method, str):
        file, _, attribute = method.rpartition(":")
        if named_file(method) is None:
            return attribute
    else:
        file, attribute = method.__module__, method.__name__
    name = vars(optimizer_class(method)).get("name", attribute)
    if not isinstance(name, str) or not NAME.fullmatch(name):
        raise InvalidOption(
            f"the name of a method is up to 60 letters, digits, spaces and _ . ( ) -, {attribute} has {shorten(name)}; "
            "change it"
        )
    if name in OPTIMIZERS:
        raise InvalidOption(
            f"{name} is the name of a method of nasbed, and {attribute} in {file} has it too; give the class another"
        )
    return name


def identity_of(method: Method) -> str:
    """The identity that determines the random numbers of a method: its id, or the names of the file and the class of a
    user's own. The folder of the file does not matter. A class of a script or notebook has its own name alone."""
    if not isinstance(method, str):
        module = None if method.__module__ == "__main__" else sys.modules.get(method.__module__)
        return f"{Path(getattr(module, '__file__', None) or '').name}:{method.__qualname__}"
    file = named_file(method)
    return method if file is None else f"{file.name}:{method.rpartition(':')[2]}"


def stable_number(identity: str) -> int:
    """128 bits, the same on every machine: a short identity itself, or the digest of a longer one."""
    encoded = identity.encode()
    if len(encoded) > SEED_BYTES:
        encoded = blake2b(encoded, digest_size=SEED_BYTES).digest()
    return int.from_bytes(encoded.ljust(SEED_BYTES, b"\0"), "big")
