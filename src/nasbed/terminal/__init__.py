"""Shared parts of commands: options, tables and JSON in a terminal, progress, Ctrl-C."""
