"""The picture of `benchmarks.cores`: how time grows with rows and features, and with threads."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.margin_picture import GREY, INK, PALE

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.measure import Table

LOOKS = {  # colours by Okabe and Ito; the markers tell them apart without
    "one pass": ("#6E6E6E", "x"),
    "decision_function": ("#009E73", "^"),
    "perceptron, 10 epochs": ("#D55E00", "o"),
    "separability": ("#0072B2", "s"),
    "maximum margin": ("#CC79A7", "D"),
    "soft margin": ("#E69F00", "v"),
    "pocket": ("#444444", "P"),
    "ten classes": ("#56B4E9", "h"),
    "kernel perceptron": ("#8B5A2B", "*"),
}


def draw_growth(tables: list[Table], path: Path) -> None:
    """A panel for rows, one for features, one for threads."""
    import matplotlib.pyplot as plt

    found = {table.title: table for table in tables}
    figure, axes = plt.subplots(1, 3, figsize=(12.5, 4.6), layout="constrained")
    for ax, grows in zip(axes, ("rows", "features"), strict=False):
        rows = found["Growth"].rows if "Growth" in found else []
        _growth(ax, [_plain(row) for row in rows if _plain(row)["grows"] == grows], grows)
    _threads(axes[2], found.get("Seconds by threads"))
    shown: dict[str, Any] = {}
    for ax in axes:
        shown |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    names = [name for name in LOOKS if name in shown]
    figure.legend(
        [shown[name] for name in names], names, loc="outside lower center", ncols=5,
        frameon=False, fontsize=9.5,
    )  # fmt: skip
    figure.savefig(path, dpi=130)
    plt.close(figure)
    print(f"written: {path}")


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name.strip(): value for name, value in row.items()}


def _growth(ax: Any, rows: list[dict[str, Any]], grows: str) -> None:
    other = "features" if grows == "rows" else "rows"
    for work, (colour, marker) in LOOKS.items():
        points = sorted((row[grows], row["seconds"]) for row in rows if row["work"] == work)
        if points:
            ax.loglog(*zip(*points, strict=True), marker=marker, color=colour, label=work)
    fixed = {row[other] for row in rows}
    at = f" ({next(iter(fixed))} {other})" if len(fixed) == 1 else ""
    ax.set_title(f"Seconds by {grows}{at}", loc="left", fontsize=10.5, color=INK)
    ax.set_xlabel(grows, fontsize=9.5, color=INK)
    _tidy(ax)


def _threads(ax: Any, table: Table | None) -> None:
    """How many times as fast as one thread."""
    rows = [] if table is None else [_plain(row) for row in table.rows]
    for row in rows:
        counts = sorted(int(name) for name in row if name.isdigit())
        kind = next((name for name in LOOKS if row["case"].startswith(name)), None)
        if kind is not None:
            colour, marker = LOOKS[kind]
            speeds = [row["1"] / row[str(k)] for k in counts]
            flipped = "flipped" in row["case"] and kind != "pocket"
            line = ":" if flipped else "-"
            name = None if flipped else kind
            ax.plot(counts, speeds, line, marker=marker, color=colour, label=name)
            ax.plot(counts, counts, "--", color=PALE, zorder=1)
            ax.set_xticks(counts)
    ax.set_title("Speed-up by threads (dotted: 10 % flipped)", loc="left", fontsize=10.5, color=INK)
    ax.set_xlabel("threads", fontsize=9.5, color=INK)
    _tidy(ax)


def _tidy(ax: Any) -> None:
    ax.grid(True, which="major", color=PALE, linewidth=0.8)
    ax.set_axisbelow(True)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(GREY)
    ax.tick_params(which="both", colors=GREY, labelcolor=INK, labelsize=8.5)
