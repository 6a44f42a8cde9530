"""``fit --features``: a feature map between the columns of a table and a linear model."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from rosenblatt.cli.options import MOST, numeric, refuse

if TYPE_CHECKING:
    from rosenblatt.features.estimators import FeatureMap

MAPS = "squares, poly:DEGREE, rff:COUNT or nystroem:COUNT"
RADIAL = ("rff", "nystroem")  # maps near the Gaussian kernel, which has a width
WIDTHS = ("gamma", "sigma")
MOST_DEGREE = 20
SHARE = 0.5  # of the memory, that the features of a table may take
COPIES = 2  # of them: those of all the rows, and those of a fold


def split_options(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """The options of a linear model, and those of the feature map before it, if there is one."""
    given = options.get("features")
    if given is None:
        return dict(options), {}
    name = str(given).partition(":")[0]
    kernel = options.get("kernel") or ("rbf" if options.get("model") == "kernel" else None)
    own = f"--features is for linear models, but --kernel {kernel} makes features of its own"
    refuse(kernel is not None, f"{own}: leave one of them out")
    widths = {option: options.get(option) for option in WIDTHS}
    for option, value in widths.items():
        strange = f"--{option} is not for --features {given}: it is for rff and nystroem"
        refuse(value is not None and name not in RADIAL, strange)
    of_map = {"features": str(given), "seed": options.get("seed") or 0, **widths}
    feature_map(of_map)  # what cannot be is refused before any work is done
    return {**options, **dict.fromkeys(WIDTHS)}, of_map


def feature_map(options: Mapping[str, Any]) -> FeatureMap:
    """The map that ``--features`` names, with the width that --gamma or --sigma gives it."""
    given = options["features"]
    name, has_size, size = given.partition(":")
    unknown = f"--features {given} is no feature map: give {MAPS}, such as poly:2 or rff:500"
    refuse(name not in ("squares", "poly", *RADIAL), unknown)
    from rosenblatt import features

    if name == "squares":
        refuse(has_size, f"--features {given} is not possible: squares takes no number")
        return features.Squares(keep=True)
    most = MOST_DEGREE if name == "poly" else MOST
    what = "degree" if name == "poly" else "number of features"
    whole = int(size) if size.isdecimal() and len(size) < 20 else 0
    remedy = f"give a {what} from 1 to {most}, such as {name}:{2 if name == 'poly' else 500}"
    refuse(not 1 <= whole <= most, f"--features {given} is not possible: {remedy}")
    if name == "poly":
        return features.Polynomial(whole)
    how = {"n_components": whole, "random_state": options["seed"], **_width(options)}
    if name == "rff":
        return features.RandomFourier(**how)
    return features.Nystroem("gaussian" if "sigma" in how else "rbf", **how)


def _width(options: Mapping[str, Any]) -> dict[str, Any]:
    gamma, sigma = options["gamma"], options["sigma"]
    both = "--gamma and --sigma are two names for one width: give one of them"
    refuse(gamma is not None and sigma is not None, both)
    if sigma is not None:
        return {"sigma": numeric("sigma", sigma)}
    return {"gamma": "scale" if gamma is None else numeric("gamma", gamma)}


def with_map(encoder: Any, options: Mapping[str, Any]) -> Any:
    """The encoder with the map that was asked for behind it."""
    from rosenblatt.tables.mapped_features import MappedEncoder

    mapping = feature_map(options)
    return MappedEncoder(encoder, mapping, check=partial(check_room, options["features"]))


def check_room(given: str, X: Any) -> None:
    """Refuse features that would not fit in memory, before they are made."""
    name, _, size = given.partition(":")
    n, d = X.shape
    if name == "poly" and hasattr(X, "indptr"):
        return  # made of the entries that are not zero: the map itself counts them
    counts = {"squares": 2 * d, "poly": math.comb(d + int(size or 0), d)}
    wide = counts.get(name) or min(int(size), n if name == "nystroem" else MOST)
    needed, room = 8.0 * n * wide * COPIES, SHARE * memory()
    fits = f"{n} rows of {wide:.4g} features take {needed / 1e9:.3g} GB with those of a fold"
    less = {"squares": "leave it out", "poly": "take a smaller degree, or --kernel poly"}
    remedy = less.get(name, f"take fewer, such as {name}:{max(1, int(room / 16 / n))}")
    refuse(needed > room, f"--features {given}: {fits}, more than {room / 1e9:.3g} GB: {remedy}")


def memory() -> float:
    """The bytes of this machine's memory; a few, where it does not say."""
    try:
        return float(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    except (AttributeError, OSError, ValueError):
        return 8e9
