"""Pipelines of one or two columns of numbers: what they decide, in the units of the table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from rosenblatt import arguments, matrices
from rosenblatt.array_types import Bools, Floats
from rosenblatt.plot.axes import Axes, box_inches, new_axes
from rosenblatt.plot.curves import draw_discs, draw_regions, draw_samples, values_on_grid
from rosenblatt.plot.lettering import number, out_of
from rosenblatt.plot.margin_edges import MOST_SUPPORT, inside_and_wrong, title_of
from rosenblatt.plot.plane import around, chosen, drawn_rows, rings
from rosenblatt.plot.projection import MOST_TICKS, Scene, cast
from rosenblatt.plot.scattered import on_a_line
from rosenblatt.plot.seen import Names, Seen, dense, features_of, nameless, read, read_best
from rosenblatt.plot.style import GREY, INK, Look, colour
from rosenblatt.results import Optimum
from rosenblatt.visible import grouped


@dataclass(frozen=True, eq=False)
class OfColumns:
    """A pipeline as a classifier of the numbers of its columns, and these numbers.

    `table` makes of rows of numbers what the pipeline takes. A missing number is NaN.
    """

    pipeline: Any
    names: tuple[str, ...]
    points: Floats
    table: Callable[[Floats], Any]

    @property
    def classes_(self) -> Any:
        """Those of the pipeline."""
        return self.pipeline.classes_

    @property
    def n_features_in_(self) -> int:
        """How many columns there are."""
        return len(self.names)

    @property
    def known(self) -> Bools:
        """The rows in which no number is missing."""
        return np.asarray(np.isfinite(self.points).all(axis=1))

    def decision_function(self, points: Floats) -> Any:
        """The decision values of rows of numbers."""
        return self.pipeline.decision_function(self.table(points))

    def predict(self, points: Floats) -> Any:
        """The classes of rows of numbers."""
        return self.pipeline.predict(self.table(points))


def of_columns(pipeline: Any, X: Any) -> OfColumns | None:
    """A pipeline of one or two columns of numbers; None if it has others."""
    first = pipeline.steps[0][1]
    if hasattr(first, "kinds_"):
        return _of_encoder(pipeline, first, X)
    if X.shape[1] > 2 if hasattr(X, "shape") else len(X[0]) > 2:
        return None
    points = np.asarray(dense(matrices.matrix("X", X)), dtype=np.float64)
    if hasattr(X, "columns"):
        columns, kind = list(X.columns), type(X)
        names = tuple(map(str, columns))
        return OfColumns(
            pipeline, names, points, lambda rows: kind(dict(zip(columns, rows.T, strict=True)))
        )
    names = features_of(first, X, None, points.shape[1])
    plain = copy(pipeline)
    plain.steps = [(name, nameless(step)) for name, step in pipeline.steps]
    return OfColumns(plain, names, points, lambda rows: rows)


def _of_encoder(pipeline: Any, encoder: Any, X: Any) -> OfColumns | None:
    """The same of one that begins with an encoder of tables."""
    from rosenblatt.tables.frames import Cells, Frame

    names, kinds = tuple(encoder.kinds_), set(encoder.kinds_.values())
    if kinds != {"number"} or len(names) > 2:
        return None
    if isinstance(X, Mapping) or hasattr(X, "columns"):
        table = Frame.of_columns(X)
    else:
        table = Frame.of_array(np.asarray(X), getattr(encoder, "feature_names_in_", None))
    columns: list[Any] = [Cells.of(name, table[name], "number").values for name in names]
    points = np.column_stack([column.as_floats() for column in columns])
    return OfColumns(pipeline, names, points, lambda rows: dict(zip(names, rows.T, strict=True)))


def last_step(pipeline: Any, X: Any) -> tuple[Any, Any, list[str] | None]:
    """The classifier at the end of a pipeline, the features that it is given, and their names."""
    before = pipeline[:-1]
    names = None
    if hasattr(before, "get_feature_names_out"):
        names = [str(name) for name in before.get_feature_names_out()]
    classifier = pipeline.steps[-1][1]
    return nameless(classifier), before.transform(X), names


def decision_of_pipeline(
    pipeline: Any, X: Any, y: Any, ax: Axes | None, features: Names, classes: Names
) -> Axes:
    """What a pipeline decides, in the units of its columns where it has one or two."""
    _check(pipeline)
    model, drawn = of_columns(pipeline, X), None
    if model is not None:
        drawn = _decision(model, X, y, ax, features, classes)
    if drawn is None:
        from rosenblatt.plot.boundary import decision

        last, made, names = last_step(pipeline, X)
        how: Look = {"feature_names": features or names, "class_names": classes}
        return decision(last, made, y, ax=ax, **how)
    return drawn


def margin_of_pipeline(
    pipeline: Any, X: Any, y: Any, which: Any, ax: Axes | None, features: Names, classes: Names
) -> Axes:
    """The margin of a pipeline, in the units of its columns where it has two."""
    _check(pipeline)
    model = of_columns(pipeline, X)
    if model is None or len(model.names) != 2:
        from rosenblatt.plot.margin_edges import margin

        last, made, names = last_step(pipeline, X)
        how: Look = {"feature_names": features or names, "class_names": classes}
        return margin(last, made, y, which=which, ax=ax, **how)
    return _margin(model, X, y, which, ax, features, classes)


def _check(pipeline: Any) -> None:
    """Refuse a pipeline that is not fitted, or does not end in a classifier."""
    from sklearn.utils.validation import check_is_fitted

    check_is_fitted(pipeline)
    for needed in ("classes_", "decision_function"):
        if not hasattr(pipeline, needed):
            kind = type(pipeline.steps[-1][1]).__name__
            msg = f"the pipeline ends in {kind}, which has no {needed}: let it end in a classifier"
            raise ValueError(msg)


def _decision(
    model: OfColumns, X: Any, y: Any, ax: Axes | None, features: Names, classes: Names
) -> Axes | None:
    """The regions of a pipeline and the curve between them, or the line cut where it decides.

    None where there are too many rows for a line.
    """
    y, known = _labels(model, y), model.known
    names = model.names if features is None else features
    seen = read(model, model.points[known], y[known], names, classes, kernel=True)
    if len(model.names) == 1:
        return on_a_line(model, seen, ax) if seen.n <= MOST_TICKS else None
    ax = new_axes(ax, (6.0, 5.9))
    scene = Scene(ax, around(seen.X, ax), seen=seen, flat=cast(seen))
    curves = draw_regions(scene, model)
    last = model.pipeline.steps[-1][1]
    if hasattr(last, "kernel_") and known.all():
        inner = replace(seen, X=model.pipeline[:-1].transform(X))
        draw_samples(scene, last, inner)
        _draw_support(scene, last, inner)
    else:
        rows = drawn_rows(seen)
        scene.ring_wrong(rows, scene.samples(rows))
        scene.note_part(rows)
    scene.entries |= curves
    _finish(scene, model)
    return ax


def _labels(model: OfColumns, y: Any) -> Any:
    labels = arguments.label_vector("y", y)
    if len(labels) != len(model.points):
        msg = f"y has {len(labels)} samples but X has {len(model.points)} rows"
        raise ValueError(msg)
    return labels


def _draw_support(scene: Scene, last: Any, inner: Seen) -> None:
    """The discs of support vectors, if these are the samples that they are among."""
    rows = last.support_
    mine = rows.size and rows.min() >= 0 and rows.max() < inner.n
    if mine and np.array_equal(dense(inner.X[rows]), dense(last.support_vectors_)):
        draw_discs(scene, last, scene.points[rows])
    else:
        scene.note("support", f"support vectors: {grouped(rows.size)}")


def _finish(scene: Scene, model: OfColumns, title: str = "") -> None:
    """Axes and legend, and what is not drawn."""
    missing = int((~model.known).sum())
    if missing:
        scene.note("missing", f"not drawn, with missing cells: {out_of(missing, len(model.known))}")
    scene.note_scales()
    scene.finish()
    steps = [type(step).__name__ for _, step in model.pipeline.steps]
    scene.legend(title or " → ".join(steps))


# Margins --------------------------------------------------------------------------------------


def _margin(
    model: OfColumns,
    X: Any,
    y: Any,
    which: Any,
    ax: Axes | None,
    features: Names,
    classes: Names,
) -> Axes:
    """The edges of a margin as curves in the plane of two columns."""
    _labels(model, y)
    last, made, _ = last_step(model.pipeline, X)
    inner, optimum = read_best(last, made, y, which, None, classes)
    names = features_of(None, None, model.names if features is None else features, 2)
    seen = replace(inner, X=model.points, features=names)
    ax = new_axes(ax, (6.0, 5.8))
    view = around(model.points[model.known], ax)
    scene = Scene(ax, view, seen=seen, flat=cast(seen))
    column = 0 if len(last.classes_) == 2 else last.classes_.tolist().index(which)
    _draw_edges(scene, model, column)
    ringed = optimum.support.astype(np.intp)
    if ringed.size > MOST_SUPPORT:
        ringed = np.sort(np.random.default_rng(0).choice(ringed, MOST_SUPPORT, replace=False))
        scene.note("ringed", f"{MOST_SUPPORT} support vectors ringed")
    rows = chosen(seen.n, ringed)
    area = scene.samples(rows, alpha=0.9)
    crowd = 1.0 if ringed.size <= 12 and min(box_inches(ax)) > 3 else 0.5
    ring = rings(ax, scene.points[ringed], area=crowd * area, gid="support")
    support = f"support vectors: {out_of(optimum.support.size, seen.n)}"
    scene.entries["support"] = ring, support
    _note_slack(scene, inner, optimum)
    scene.note_part(rows)
    scene.note("gap", f"gap {number(optimum.gap, 2)}")
    _finish(scene, model, f"{title_of(optimum)}, in the model's features")
    return ax


def _draw_edges(scene: Scene, model: OfColumns, column: int) -> None:
    """The two sides, the band between the edges, the curve in the middle."""
    from matplotlib.lines import Line2D

    ax, (a, b, F) = scene.ax, values_on_grid(model, scene.view)
    f = F[..., column]
    reach = 2 * max(1.0, float(np.abs(f).max()))
    for k, levels in enumerate(([-reach, 0.0], [0.0, reach])):
        sides: Look = {"colors": [colour(k)], "alpha": 0.1, "zorder": 0}
        ax.contourf(a, b, f, levels=levels, **sides).set_gid(f"region {k}")
    ax.contourf(a, b, f, levels=[-1.0, 1.0], colors=["white"], zorder=1).set_gid("band")
    looks: list[tuple[str, list[float], Look]] = [
        ("hyperplane", [0.0], {"colors": INK, "linewidths": 1.8, "zorder": 3}),
        ("edges", [-1.0, 1.0], {"colors": GREY, "linewidths": 1.1, "linestyles": [(0, (4, 3))]}),
    ]
    says = {"hyperplane": "f(x) = 0", "edges": "f(x) = ±1"}
    for gid, levels, look in looks:
        seen = [level for level in levels if f.min() < level < f.max()]
        if seen:
            ax.contour(a, b, f, levels=seen, **look).set_gid(gid)
            dashes: Any = (0, (4, 3)) if gid == "edges" else "-"
            width = look["linewidths"]
            handle = Line2D([], [], color=look["colors"], linewidth=width, linestyle=dashes)
            scene.entries[gid] = handle, says[gid]
        else:
            scene.note(gid, f"{says[gid]} lies outside this view")


def _note_slack(scene: Scene, inner: Seen, optimum: Optimum) -> None:
    inside, wrong = inside_and_wrong(inner, optimum)
    if inside.any() or wrong.any():
        counts = f"{grouped(inside.sum())} inside, {grouped(wrong.sum())} wrong"
        scene.note("slack", f"slack: {counts}")
