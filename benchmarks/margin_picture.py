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
    shown: dict[str, Any] = {}
    for ax in axes.flat:
        shown |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    names = [name for name in LOOKS if name in shown]
    figure.legend(
        [shown[name] for name in names], names, loc="outside upper center", ncols=len(names),
        frameon=False, fontsize=9.5,
    )  # fmt: skip
    figure.savefig(path, dpi=130)
    plt.close(figure)
    print(f"written: {path}")


def _panel(ax: Axes, rows: list[dict[str, Any]], grows: str) -> None:
    """One line per solver."""
    other = "features" if grows == "rows" else "rows"
    for solver, (colour, marker) in LOOKS.items():
        points = sorted((row[grows], row[solver]) for row in rows if row.get(solver))
        ours = solver == OURS
        if points:
            ax.loglog(
                *zip(*points, strict=True), marker=marker, color=colour, label=solver,
                linewidth=2.6 if ours else 1.4, markersize=6.5 if ours else 4.5,
                zorder=3 if ours else 2,
            )  # fmt: skip
    fixed = {row[other] for row in rows}
    at = f", {_number(next(iter(fixed)))} {other}" if len(fixed) == 1 else ""
    ax.set_xlabel(f"{grows}{at}", fontsize=9.5, color=INK)
    ax.grid(True, which="major", color=PALE, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    for axis in (ax.xaxis, ax.yaxis):
        axis.set_major_formatter(lambda value, _: _number(value))
        axis.set_minor_formatter("")
    if grows == "features":
        ax.set_xticks(sorted({row[grows] for row in rows}))
    ax.tick_params(which="both", colors=GREY, labelcolor=INK, labelsize=8.5)


def _number(value: float) -> str:
    """A number with thin spaces between its thousands."""
    return f"{value:,.10g}".replace(",", "\u2009")
