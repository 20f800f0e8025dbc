"""A fitted model as two files: its arrays, and all else as JSON. Neither can hold code."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nasbed.core.errors import BadFile

ARRAYS, ABOUT = "arrays.npz", "model.json"


def dump_model(arrays: Mapping[str, NDArray[Any]], description: Mapping[str, Any]) -> dict[str, bytes]:
    """The files; the same model gives the same bytes."""
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    return {ARRAYS: packed.getvalue(), ABOUT: (json.dumps(description, indent=1, sort_keys=True) + "\n").encode()}


def load_model(files: Mapping[str, bytes]) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays and the rest."""
    try:
        with np.load(io.BytesIO(files[ARRAYS]), allow_pickle=False) as packed:
            arrays = {name: packed[name] for name in packed.files}
        description = json.loads(files[ABOUT])
    except KeyError as missing:
        raise BadFile(f"a model has the files {ARRAYS} and {ABOUT}, {missing} is missing; save it again") from None
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise BadFile(f"a model's {ARRAYS} and {ABOUT} must be readable, got: {error}; save it again") from None
    return arrays, description
