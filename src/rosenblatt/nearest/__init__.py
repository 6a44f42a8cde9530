"""The problem under every margin: how close two convex hulls come, and what slack costs.

`hulls` solves it for a few samples; `working_set` holds the few that matter, and scans the rest;
`coordinates` improves where slack is cheap, `newton` with `directions` where it is not;
`max_margin` and `soft_margin` drive it to the end, the latter from a `rough` answer, both from
where it stands (`standing`), by the `slacks` of all samples.
`signed_vectors` are samples times their labels. Imports `running`, `data`, `exact`, `results`.
"""
