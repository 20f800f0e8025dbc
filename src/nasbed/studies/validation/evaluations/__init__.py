"""The parts of a validation that describe the evaluations of a table and need no model.

They belong to a validation because the paper draws from them what a good surrogate must know (appendices C.4 to C.7).
"""
