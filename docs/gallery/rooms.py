"""The rooms of the library, drawn from its real imports: an arrow points to what is used."""

import ast
import sys
from collections import Counter, defaultdict
from itertools import permutations
from pathlib import Path

import matplotlib.pyplot as plt
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch

import rosenblatt as rb

SOURCE = Path(rb.__file__).parent
COLOURS = {
    "what people touch": (
        "#E69F00",
        {
            *("cli", "playground", "plot", "io", "certify", "questions"),
            *("report", "exports", "streams", "tables", "files"),
        },
    ),
    "a question each": (
        "#0072B2",
        {
            "perceptron",
            "kernel",
            "margin",
            "bounds",
            "separation",
            "boolean",
            "features",
            "exercises",
            "validation",
        },
    ),
    "what they share": ("#009E73", set()),
}


def room(module):
    """``rosenblatt.data.rows`` is in the room data."""
    return module.split(".")[1] if "." in module else ""


def imports(path):
    """The rooms that a file imports."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            if node.module == "rosenblatt":
                yield from (alias.name for alias in node.names)
            elif node.module.startswith("rosenblatt."):
                yield room(node.module)


lines, uses = Counter(), defaultdict(set)
for path in SOURCE.rglob("*.py"):
    place = path.relative_to(SOURCE).parts
    name = place[0].removesuffix(".py")
    if name in ("__init__", "array_types"):  # the latter only names types
        continue
    lines[name] += len(path.read_text(encoding="utf-8").splitlines())
    uses[name] |= set(imports(path))
for name in list(uses):
    uses[name] = {other for other in uses[name] if other in lines and other != name}


def reached(name):
    """All rooms that a room uses, directly or not."""
    found = set()
    for other in uses[name]:
        found |= {other} | reached(other)
    return found


# Only arrows that no longer way replaces; a room stands above all that it uses.
arrows = {
    name: {o for o in uses[name] if not any(o in reached(p) for p in uses[name] if p != o)}
    for name in lines
}
height = {}


def floor(name):
    """How far above the ground a room stands."""
    if name not in height:
        height[name] = 1 + max((floor(other) for other in uses[name]), default=-1)
    return height[name]


floors = defaultdict(list)
for name in lines:
    floors[floor(name)].append(name)
across = {}


def cost(places):
    """How often arrows from these rooms pass behind others, and then how far they go aside."""
    total = 0.0
    for name, x in places.items():
        for other in arrows[name]:
            aside, down = across[other] - x, height[name] - height[other]
            total += abs(aside)
            for between in range(height[other] + 1, height[name]):
                at = x + aside * (height[name] - between) / down
                total += 20 * sum(abs(across[room] - at) < 1.05 for room in floors[between])
    return total


for level in sorted(floors):
    size = len(floors[level])
    layouts = (
        {name: shift + 2.4 * (k - (size - 1) / 2) for k, name in enumerate(names)}
        for names in permutations(sorted(floors[level]))
        for shift in sorted((0.6 * k for k in range(-6, 7)), key=abs)
    )
    across |= min(layouts, key=cost)

figure, ax = plt.subplots(figsize=(11, 8.6), layout="constrained")
for name in lines:
    for other in arrows[name]:
        ax.add_patch(
            FancyArrowPatch(
                (across[name], height[name] - 0.26),
                (across[other], height[other] + 0.3),
                arrowstyle="-|>",
                mutation_scale=9,
                color="#777777",
                linewidth=0.9,
                shrinkA=0,
                shrinkB=0,
            )
        )
for name, n in lines.items():
    colour = next(c for c, rooms in COLOURS.values() if name in rooms or not rooms)
    x, y = across[name], height[name]
    box = FancyBboxPatch(
        (x - 0.98, y - 0.24),
        1.96,
        0.5,
        boxstyle="round,pad=0.02,rounding_size=0.12",
        facecolor=colour,
        edgecolor="white",
        zorder=3,
    )
    ax.add_patch(box)
    ax.text(x, y + 0.06, name, ha="center", va="center", color="white", fontsize=11, zorder=4,
            fontweight="bold")  # fmt: skip
    said = f"{n:,} lines".replace(",", "\u202f")
    ax.text(x, y - 0.14, said, ha="center", va="center", color="white", fontsize=7.5, zorder=4)
for title, (colour, _) in COLOURS.items():
    ax.plot([], [], "s", color=colour, markersize=10, label=title)
ax.legend(loc="upper right", frameon=False, fontsize=10)
ax.set(
    xlim=(min(across.values()) - 1.3, max(across.values()) + 1.3),
    ylim=(-0.6, max(height.values()) + 0.6),
)
ax.set_axis_off()
folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent
rb.plot.save(figure, folder / "rooms.png", dpi=80)
