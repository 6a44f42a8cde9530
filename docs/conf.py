"""How the site is made: ``sphinx-build -W docs site`` writes it, and it opens from disk."""

import os
import sys
from pathlib import Path

from rosenblatt import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "rosenblatt"
author = "The rosenblatt authors"
version = release = __version__

extensions = [
    "code_blocks",  # without the blank line at their end
    "commands",  # of the terminal
    "contents",  # the order of the pages
    "docstrings",  # what the reference shows
    "math_font",
    "mathml",  # formulas
    "myst_parser",
    "numpydoc",
    "pictures",  # which of them are wide
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx_copybutton",
]
exclude_patterns = ["_build", "_ext", "_static", "**.py", "**.ipynb"]
nitpick_ignore_regex = [("py:.*", ".*")]  # types are written as a reader says them
nitpicky = True
smartquotes = False  # what stands in quotes is often typed

# Pages are Markdown with formulas between dollars; every heading can be linked to.
myst_enable_extensions = ["dollarmath", "amsmath"]
myst_heading_anchors = 4
myst_dmath_double_inline = True
html_math_renderer = "mathml"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_line_continuation_character = "\\"
highlight_language = "none"

# The reference is made from the docstrings.
default_role = "py:obj"
add_module_names = False
python_maximum_signature_line_length = 70
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

# Names of others become links where their lists of names can be fetched: this must be asked for.
intersphinx_mapping = {
    name: (f"https://{address}/", None)
    for name, address in {
        "python": "docs.python.org/3",
        "numpy": "numpy.org/doc/stable",
        "sklearn": "scikit-learn.org/stable",
        "matplotlib": "matplotlib.org/stable",
    }.items()
    if os.environ.get("ROSENBLATT_DOCS_ONLINE")
}

html_theme = "pydata_sphinx_theme"
html_title = "rosenblatt"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["from-disk.js"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {page: [] for page in ("index", "tutorial", "house", "gallery/index")}
html_context = {"default_mode": "auto"}
html_theme_options = {
    "logo": {"text": "rosenblatt"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": [],
    "footer_end": [],
    "show_toc_level": 2,
    "show_nav_level": 1,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
