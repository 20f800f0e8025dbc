"""Work that is the same every time, recorded once on a CUDA device and then repeated without the host."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import torch
from torch import Tensor


@contextmanager
def replayed(
    work: Callable[[], None], device: torch.device, *, state: Sequence[Tensor]
) -> Iterator[Callable[[], None]]:
    """A function that does the work: by a CUDA graph where there is one, else by calling it.

    ``state`` is all that the work changes and that it must find as it is now: recording needs a rehearsal.
    """
    if device.type != "cuda":
        yield work
        return
    previous_values = [tensor.clone() for tensor in state]
    stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        work()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        work()
    for tensor, old in zip(state, previous_values, strict=True):
        tensor.copy_(old)
    yield graph.replay
    torch.cuda.synchronize()
    del graph
