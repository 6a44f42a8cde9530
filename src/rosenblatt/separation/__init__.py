"""The question whether a hyperplane can separate the classes.

Begin with `function`, which has `rosenblatt.separability`; `solver` decides, with `evidence` for
what cancels, `exact_simplex` where floats cannot tell, `coordinates` that are easy on floats, and
a `bracket` where time is over.
`feature_space` asks the same of a kernel; `explaining` says what carries a separation or stands
in its way. Every answer is checked by `certify` before it is returned.
"""
