"""How any run goes: epochs, orders, stop reasons, the clock, Ctrl-C, threads.

Begin with `run`; `stopping` ends runs, `threads` is a team of threads, `scanner` with
`scan_loops` passes over the data on all of them. Imports `data`, `exact`, `results`.
"""
