"""A folder for ``sys.path``: its modules carry the published names and install the drop-ins when they are imported.

Python hands ``sys.path`` on to the processes that multiprocessing starts, but not what was imported. So an import of a
published package finds its drop-in there too.
"""
