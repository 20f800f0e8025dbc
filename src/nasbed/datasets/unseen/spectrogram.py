"""Five seconds of sound as a picture: 64 mel bands by 128 moments, in bytes.

Slaney's mel scale is linear up to 1 000 Hz (a mel is 200/3 Hz) and logarithmic above (27 mels are a factor of 6.4). A
band is a triangle over three neighbours of the 66 frequencies that divide the mels of 0 to 11 025 Hz evenly. Its area
over hertz is 1, so that white noise is equally loud in all bands. librosa has the same definitions.
"""

from __future__ import annotations

from functools import cache
from math import gcd
from typing import Any

import numpy as np
from numpy.typing import NDArray

RATE = 22_050
"""Samples in a second, after resampling."""
SECONDS = 5
BANDS = 64
COLUMNS = 128
WINDOW = 2_048
"""Samples of a Hann window, 93 ms."""
HOP = 868
"""Samples from one column to the next, 39.4 ms; the first is about the first sample, the last about the end."""
RANGE_DB = 80
"""From the loudest point of a picture, 255, down to 0."""
SILENCE = 1e-4
"""A snippet whose samples are all smaller, of a full scale of 1, is silent."""

_LINEAR_HZ = 200 / 3
_BREAK_HZ = 1_000.0
_LOG_STEP = np.log(6.4) / 27

Samples = NDArray[np.floating[Any]]


def mel(hertz: Samples | float) -> NDArray[np.float64]:
    """
    >>> np.round(mel(np.array([0.0, 200.0, 1000.0, 6400.0])), 9).tolist()
    [0.0, 3.0, 15.0, 42.0]
    """
    frequency = np.asarray(hertz, np.float64)
    above = np.log(np.maximum(frequency, _BREAK_HZ) / _BREAK_HZ) / _LOG_STEP
    return np.asarray(np.minimum(frequency, _BREAK_HZ) / _LINEAR_HZ + above)


def hertz(mels: Samples | float) -> NDArray[np.float64]:
    """
    >>> np.round(hertz(np.array([3.0, 15.0, 42.0])), 9).tolist()
    [200.0, 1000.0, 6400.0]
    """
    value = np.asarray(mels, np.float64)
    border = _BREAK_HZ / _LINEAR_HZ
    return np.asarray(np.minimum(value, border) * _LINEAR_HZ * np.exp(np.maximum(value - border, 0) * _LOG_STEP))


@cache
def filters() -> NDArray[np.float64]:
    """The weight of each frequency of a spectrum in each band, ``[64, 1025]``."""
    corners = hertz(np.linspace(0, mel(RATE / 2), BANDS + 2))
    frequencies = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
    low, middle, high = corners[:-2, None], corners[1:-1, None], corners[2:, None]
    triangles = np.minimum((frequencies - low) / (middle - low), (high - frequencies) / (high - middle))
    bank: NDArray[np.float64] = np.maximum(triangles, 0) * 2 / (high - low)
    bank.setflags(write=False)
    return bank


def resampled(samples: Samples, rate: int) -> NDArray[np.float64]:
    """One channel at 22 050 samples a second; what is too high for that rate is filtered out."""
    from scipy.signal import resample_poly

    if rate == RATE:
        return samples.astype(np.float64)
    common = gcd(rate, RATE)
    return np.asarray(resample_poly(samples.astype(np.float64), RATE // common, rate // common))


def mel_powers(samples: Samples) -> NDArray[np.float64]:
    """The power of five seconds in each band and column, ``[64, 128]``; beyond both ends there is silence."""
    from scipy.fft import rfft

    if len(samples) != SECONDS * RATE:
        raise ValueError(f"a snippet has {SECONDS * RATE} samples, got {len(samples)}")
    padded = np.pad(samples.astype(np.float64), WINDOW // 2)
    starts = np.arange(COLUMNS) * HOP
    pieces = np.lib.stride_tricks.sliding_window_view(padded, WINDOW)[starts]
    spectrum = rfft(pieces * _hann(), axis=1)
    return np.asarray(filters() @ (spectrum.real**2 + spectrum.imag**2).T)


def picture_of(samples: Samples) -> NDArray[np.uint8]:
    """Decibels below the loudest point, from 80 at 0 to none at 255, ``[1, 64, 128]``; row 0 is the lowest band.

    How loud a recording was made is not in it. Silence has no loudest point and gives zeros.
    """
    powers = mel_powers(samples)
    loudest = powers.max()
    if loudest <= 0:
        return np.zeros((1, BANDS, COLUMNS), np.uint8)
    decibels = 10 * np.log10(np.maximum(powers / loudest, 10.0 ** (-RANGE_DB / 10)))
    return np.asarray(np.rint(255 * (1 + decibels / RANGE_DB)), np.uint8)[None]


@cache
def _hann() -> NDArray[np.float64]:
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(WINDOW) / WINDOW)
