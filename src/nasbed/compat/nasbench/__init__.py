"""What ``import nasbench`` finds once the drop-ins are installed: the interface of NAS-Bench-101's own package."""

from nasbed.compat.nasbench.absent import provide

provide(__name__)
