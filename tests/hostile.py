"""Tables whose names and cells would like to be more than text."""

import csv
from pathlib import Path

# What is written, and what of it is shown.
HOSTILE = {
    "<script>window.taken=1;alert(1)</script>": "<script>window.taken=1;alert(1)</script>",
    '" onmouseover="window.taken=2" x="': '" onmouseover="window.taken=2" x="',
    "</style><img src=x onerror=alert(3)>": "</style><img src=x onerror=alert(3)>",
    "{{ 7 * 7 }}{% raw %}": "{{ 7 * 7 }}{% raw %}",
    "right\u202eto left\u0007": "right\\u202eto left\\x07",
    "שלום 👩‍🔬 😀": "שלום 👩‍🔬 😀",
    "&amp;lt; 'n' `": "&amp;lt; 'n' `",
}


def hostile_table(path):
    """Write it: columns, classes and words of this kind, and a name that does not end."""
    names = list(HOSTILE)
    words = names[:4]
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file)
        out.writerow([*names, "long" * 500, "a word", "class"])
        for k in range(40):
            numbers = [(k * (j + 3)) % 11 for j in range(len(names))]
            label = "<b onclick=alert(4)>b</b>" if k % 3 else "javascript:alert(5)//"
            out.writerow([*numbers, k % 7, words[k % len(words)] + "x" * 300 * (k == 5), label])
