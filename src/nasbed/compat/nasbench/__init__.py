"""What ``import nasbench`` finds once the drop-ins are installed: the interface of NAS-Bench-101's own package."""
