"""The statements of the zero-cost paper, checked on tasks of your own."""
