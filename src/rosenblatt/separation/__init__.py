"""The question whether a hyperplane can separate the classes.

Begin with `function`, which has `rosenblatt.separability`; `solver` decides, with `evidence` for
what proves a verdict, `faces` for all that cancels at once, `programs` for what cancels (in
integers where floats cannot tell), and `coordinates` that are easy on floats. `log` notes where a
search is, for a checkpoint. `feature_space` asks the same of a kernel, with a working set
(`dual_margin`) of samples known by the kernel's values (`kernel_vectors`), or with vectors for all
features (`feature_vectors`). `explaining` says what carries a separation or stands in its way.
Every answer is checked by `certify` before it is returned.
"""
