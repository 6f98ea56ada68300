"""Which operators and tests a change of a source tree touches, found by symbols.

Pure: file contents in, reasons out. Nothing here reads a disk, a clock or git; what a file holds
is hostile and never executed.
"""
