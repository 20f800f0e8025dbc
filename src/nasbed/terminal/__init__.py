"""What commands share: options, tables and JSON in a terminal, progress, Ctrl-C."""
