"""How any run goes: epochs, orders, stop reasons, the clock, Ctrl-C, threads.

Begin with `run`: a `Run` takes a `Rule`, which says what an epoch does. `clock` ends runs, also
from outside, `threads` is a team of threads, `scanner` passes over the data on all of them.
`checkpoints` keep the state of a run in a file, `notes` that of work in several parts.
Imports `data`, `exact`, `results`.
"""
