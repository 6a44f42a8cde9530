"""One page about a model, to hand on: facts in, HTML out.

Begin with `facts`: frozen values, all that the page shows. `gathering` takes them from a fitted
classifier and its table, `curves` has rankings and courses, thinned so that a picture can hold
them. `charts` turns facts into pictures, `charting` has their shapes and axes, `wording` the
sentences, and `rendering` puts it all into the templates, which escape every name by themselves:
`page` gives a whole document, `fragment` a part for a notebook.
"""
