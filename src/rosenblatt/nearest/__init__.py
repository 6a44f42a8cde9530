"""The problem under every margin: how close two convex hulls come, and what slack costs.

`hulls` solves it for a few samples; `working_set` holds the few that matter, and scans the rest;
`newton` with `directions` improves, `max_margin` and `soft_margin` drive it to the end, from
where it stands (`standing`).
`signed_vectors` are samples times their labels. Imports `running`, `data`, `exact`, `results`.
"""
