"""The picture of `benchmarks.margin`: how the time grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.margin_results import OURS

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.axes import Axes

INK, GREY, PALE = "#222222", "#6E6E6E", "#E4E4E4"
LOOKS = {  # colours by Okabe and Ito; the markers tell them apart without
    OURS: ("#D55E00", "o"),
    "SVC": ("#0072B2", "s"),
    "LinearSVC": ("#009E73", "^"),
    "PIQP": ("#CC79A7", "D"),
    "Clarabel": ("#E69F00", "v"),
    "skglm": ("#444444", "X"),
}
TITLES = {"hard": "Maximum margin", "soft": "Soft margin, C = N, 10 % of the labels flipped"}


def draw_growth(rows: list[dict[str, Any]], path: Path) -> None:
    """A row of panels for each problem, a panel for rows and one for features."""
    if not rows:
        return
    import matplotlib.pyplot as plt

    kinds = [kind for kind in TITLES if any(row["problem"] == kind for row in rows)]
    figure, axes = plt.subplots(
        len(kinds), 2, figsize=(9.2, 0.7 + 3.5 * len(kinds)), sharey="row", squeeze=False,
        layout="constrained",
    )  # fmt: skip
    for k, kind in enumerate(kinds):
        for ax, grows in zip(axes[k], ("rows", "features"), strict=True):
            _panel(ax, [r for r in rows if (r["problem"], r["grows"]) == (kind, grows)], grows)
        axes[k, 0].set_title(TITLES[kind], loc="left", fontsize=10.5, color=INK, pad=9)
        axes[k, 0].set_ylabel("seconds to a gap of 1e-6", fontsize=9.5, color=INK)
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False,
                  fontsize=9.5)  # fmt: skip
    figure.savefig(path, dpi=130)
    plt.close(figure)
    print(f"written: {path}")


def _panel(ax: Axes, rows: list[dict[str, Any]], grows: str) -> None:
    """One line per solver."""
    other = "features" if grows == "rows" else "rows"
    for solver, (colour, marker) in LOOKS.items():
        points = sorted((r[grows], r["seconds"]) for r in rows if r["solver"] == solver)
        ours = solver == OURS
        if points:
            ax.loglog(
                *zip(*points, strict=True), marker=marker, color=colour, label=solver,
                linewidth=2.6 if ours else 1.4, markersize=6.5 if ours else 4.5,
                zorder=3 if ours else 2,
            )  # fmt: skip
    fixed = {row[other] for row in rows}
    at = f" ({next(iter(fixed)):,} {other})".replace(",", " ") if len(fixed) == 1 else ""
    ax.set_xlabel(f"{grows}{at}", fontsize=9.5, color=INK)
    ax.grid(True, which="major", color=PALE, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(which="both", colors=GREY, labelcolor=INK, labelsize=8.5)
