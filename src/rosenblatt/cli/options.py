"""Options that several commands have, and options as parameters of the estimators."""

from __future__ import annotations

import inspect
import math
import re
import shlex
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

    from rosenblatt.cluster.engine import Engine
    from rosenblatt.running.checkpoints import Checkpoint

PAGE_ONLY = "page only"  # in a context's `meta`: nothing else is told
EXIT_CODE = "exit code"  # in a context's `meta`: how to leave, also if the reader has gone
TYPED = "typed"  # there, too: the arguments

writes = partial(typer.Option, "--output", "-o")
trains = partial(typer.Option, rich_help_panel="How to train")
curves = partial(typer.Option, rich_help_panel="Kernels (--model kernel)")
disk = partial(typer.Option, rich_help_panel="Tables larger than memory")
keeps = partial(typer.Option, rich_help_panel="Runs that may be killed")
spreads = partial(typer.Option, rich_help_panel="More than one process or machine")
reads = partial(typer.Option, rich_help_panel="How to read the table")

FILE = (
    "A table: CSV, JSON, Parquet, Arrow, NumPy, svmlight, ARFF, a workbook or a database, also "
    "compressed; - for standard input. Several files, or 'a*.csv' in quotes, are one table."
)
SHEET = "The sheet of a workbook. Default: the first."
TABLE = "The table of a database. Default: the only one."
QUERY = "A SELECT, for the database; without FILE over files: FROM 'x.parquet'."
DB = "Instead of FILE: postgresql://USER@HOST/NAME. Passwords: PGPASSWORD or ~/.pgpass."
TARGET = "The column with the classes. Default: the last one that can be."
QUIET = "Print nothing but errors and --json; the exit code tells."
TOP = "How many weights to show and, where there are very many classes, how many of these."
UPDATE = (
    "online: one update per mistake (the default); batch: per epoch; minibatch; mixed: parts learn "
    "online side by side, and each epoch ends with their mean."
)
INIT = "zeros (the default), random, or weights with commas, the bias (if any) last."
ZERO = "The side of rows on the hyperplane, -1 or +1. Default: -1, but in training a mistake."
BIAS = "Whether to learn a bias. Default: yes; kernel: no."
EPOCHS = "Most passes. Default: 1000, or fewer where they take long and help no more."
FEATURES = (
    "A feature map before a linear model: squares, poly:2 (products), rff:500 or nystroem:300 "
    "(near --kernel rbf; they take --gamma or --sigma)."
)
MULTICLASS = "Of several classes: ovr, each against the rest; joint, all as one problem."
WEIGHTS = "How much the classes count: balanced, or CLASS=WEIGHT with commas."
KERNEL = "rbf (the default), gaussian, poly, linear or sigmoid. Means --model kernel."
GAMMA = "scale (the default: 1/(features * variance)), auto (1/features), or a number."
SIGMA = "gaussian: the width, instead of --gamma."
COEF0 = "poly, sigmoid: the number added (1)."
RAW = "Leave numbers as they are instead of standardising them."
GROUPS = "Rows alike here belong together: never parted by --cv or --holdout. It is no feature."
USE = "Use this column even if it looks like an identifier."
NUMBER = "Read this column as numbers, whatever it looks like."
CATEGORY = "Read this column as words, as they stand: codes, postcodes."
TEXT = "Make features of the words of this column: free text."
DECIMAL = "The decimal mark of its numbers, . or ,. Default: look."
DATES = "The order in dates that leave it open, as 03/04/2024: dmy, mdy or ymd. Default: look."
SKIP = "Leave out lines with too few or too many cells."
MISSING = "What else stands for a missing cell, such as -999 or unknown."
DELIMITER = "What stands between cells. Default: look."
MEMORY = (
    "Most memory for the table and its features: 2GB, 500MB. One that takes more is read from disk "
    "as it is needed, with the same answers. Default: half of what is free."
)
CACHE = "The folder for temporary files. Default: the system's (TMPDIR)."
CACHE_SIZE = "Most room that features may take there: 50GB. Default: what is free."
CHECKPOINT = (
    "Keep the state of the run in this file, to go on from. It stays, and may be deleted when the "
    "run is done."
)
EVERY = "How often to write it (30s); 0s: as often as can be."
RESUME = "Go on with what the checkpoint holds, if it is there: to the same answer, to the bit."
CLUSTER = (
    "Have the workers of a Dask cluster read the files and do the work, to the same answer: local, "
    "local:4 (processes here), or the address of a scheduler, whose workers see the files."
)
HEADER = "Whether the first line has names. Default: look."

Updates = Literal["online", "batch", "minibatch", "mixed"]
Orders = Literal["cyclic", "shuffled", "sampled", "blocks", "random-mistake", "worst-mistake"]
DateOrders = Literal["dmy", "mdy", "ymd"]
Kernels = Literal["rbf", "gaussian", "poly", "linear", "sigmoid"]

Files = Annotated[list[str] | None, typer.Argument(metavar="FILE...", help=FILE)]
Target = Annotated[str | None, typer.Option("--target", "-t", metavar="COLUMN", help=TARGET)]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", metavar="", help=QUIET)]
Json = Annotated[bool, typer.Option("--json", metavar="", help="Print JSON, for scripts.")]

Update = Annotated[Updates | None, trains(metavar="WHEN", help=UPDATE)]
BatchSize = Annotated[int | None, trains(metavar="N", help="Rows per minibatch.")]
Shards = Annotated[int | None, trains(metavar="N", help="Parts that learn apart, if mixed (16).")]
Init = Annotated[str | None, trains(metavar="START", help=INIT)]
AtZero = Annotated[str | None, trains(metavar="SIDE", help=ZERO)]
Intercept = Annotated[bool | None, trains(metavar="", help=BIAS)]
Features = Annotated[str | None, trains("--features", metavar="MAP", help=FEATURES)]
Multiclass = Annotated[Literal["ovr", "joint"] | None, trains(metavar="HOW", help=MULTICLASS)]
MaxEpochs = Annotated[int | None, trains(metavar="N", help=EPOCHS)]
ClassWeight = Annotated[str | None, trains(metavar="WEIGHTS", help=WEIGHTS)]
Seed = Annotated[int | None, trains(metavar="N", help="For everything random (0).")]
Threads = Annotated[int | None, trains(metavar="N", help="Threads (one per core).")]

Kernel = Annotated[Kernels | None, curves(metavar="KERNEL", help=KERNEL)]
Gamma = Annotated[str | None, curves(metavar="X", help=GAMMA)]
Sigma = Annotated[str | None, curves(metavar="X", help=SIGMA)]
Degree = Annotated[str | None, curves(metavar="N", help="poly: its degree (3).")]
Coef0 = Annotated[str | None, curves(metavar="X", help=COEF0)]

Raw = Annotated[bool, reads("--raw", metavar="", help=RAW)]
Groups = Annotated[str | None, reads(metavar="COLUMN", help=GROUPS)]
Ignore = Annotated[list[str] | None, reads(metavar="COLUMN", help="Leave it out.")]
Use = Annotated[list[str] | None, reads(metavar="COLUMN", help=USE)]
Number = Annotated[list[str] | None, reads(metavar="COLUMN", help=NUMBER)]
Category = Annotated[list[str] | None, reads(metavar="COLUMN", help=CATEGORY)]
Text = Annotated[list[str] | None, reads(metavar="COLUMN", help=TEXT)]
Missing = Annotated[list[str] | None, reads(metavar="TOKEN", help=MISSING)]
Dates = Annotated[DateOrders | None, reads(metavar="ORDER", help=DATES)]
Decimal = Annotated[str | None, reads(metavar="MARK", help=DECIMAL)]
SkipBadLines = Annotated[bool | None, reads("--skip-bad-lines", metavar="", help=SKIP)]
Memory = Annotated[str | None, disk("--memory", metavar="SIZE", help=MEMORY)]
CacheFolder = Annotated[str | None, disk("--cache", metavar="FOLDER", help=CACHE)]
CacheSize = Annotated[str | None, disk("--cache-size", metavar="SIZE", help=CACHE_SIZE)]
CheckpointPath = Annotated[str | None, keeps("--checkpoint", metavar="PATH", help=CHECKPOINT)]
CheckpointEvery = Annotated[str | None, keeps("--checkpoint-every", metavar="TIME", help=EVERY)]
Resume = Annotated[bool, keeps("--resume", metavar="", help=RESUME)]
Cluster = Annotated[str | None, spreads("--cluster", metavar="WHERE", help=CLUSTER)]
Header = Annotated[bool | None, reads(metavar="", help=HEADER)]
Delimiter = Annotated[str | None, reads(metavar="C", help=DELIMITER)]
Sheet = Annotated[str | None, reads(metavar="NAME", help=SHEET)]
TableName = Annotated[str | None, reads("--table", metavar="NAME", help=TABLE)]
Query = Annotated[str | None, reads(metavar="SQL", help=QUERY)]
Database = Annotated[str | None, reads("--db", metavar="ADDRESS", help=DB)]


# As parameters ----------------------------------------------------------------------------------

KERNELS = {
    "rbf": ("gamma",),
    "gaussian": ("gamma", "sigma"),
    "poly": ("degree", "gamma", "coef0"),
    "linear": (),
    "sigmoid": ("gamma", "coef0"),
}
CURVED = {  # what only kernel perceptrons have, with a kernel that it is for
    "gamma": "rbf",
    "sigma": "gaussian",
    "degree": "poly",
    "coef0": "poly",
    "drop_after": "rbf",
    "budget": "rbf",
}
PARAMETERS = (
    *("update", "batch_size", "shards", "order", "keep", "multiclass", "eta0", "at_zero", "init"),
    "intercept",
    *("max_epochs", "max_time", "C", "kernel", "gamma", "sigma", "degree", "coef0"),
    *("drop_after", "budget", "tol", "class_weight", "record", "seed", "n_jobs"),
)
RENAMED = {"intercept": "fit_intercept", "seed": "random_state"}
# As `read_table` takes them, and as the commands have them.
READING = {
    **{name: name for name in ("header", "delimiter", "decimal", "dates", "sheet", "query")},
    "skip_bad_lines": "skip_bad_lines",
    "table": "table_name",
}
MOST = 10**9
UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
NUMBERS = {  # options that are numbers, and what to give
    "C": "a positive number, the price of slack",
    "tol": "a positive number",
    "sigma": "a positive number, the width",
    "coef0": "a finite number",
    "eta0": "a positive number",
    "gamma": "scale, auto or a positive number",
}
WORDS = {"eta0": ("auto",), "gamma": ("scale", "auto")}  # that may stand for numbers
LEAST = {"degree": 1, "drop_after": 2, "budget": 1}
SUFFIXES = {
    "model": (".skops",),
    "picture": (".png", ".svg", ".pdf"),
    "animation": (".gif", ".mp4"),
    "certificate": (".json",),
    "page": (".html", ".htm"),
}


def on_cluster(where: str | None, progress: Any) -> AbstractContextManager[Engine | None]:
    """The cluster that an option names; None: none."""
    if where is None:
        return nullcontext()
    from rosenblatt.cli.clusters import cluster_at

    return cluster_at(where, progress)


def how_to_read(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of the options of a command those about its table."""
    lists = ("ignore", "use", "number", "category", "text", "missing")
    columns = {name: list(options.get(name) or ()) for name in lists}
    return (
        columns
        | {"groups": options.get("groups")}
        | {name: options[given] for name, given in READING.items()}
    )


def how_to_encode(options: Mapping[str, Any]) -> dict[str, Any]:
    """Of the options of a command those about the features that columns become."""
    return {name: tuple(options[name] or ()) for name in ("use", "text")}


class WrongUseError(ValueError):
    """What the command was given makes no sense, and its help says what would."""


def tables_of(options: Mapping[str, Any]) -> list[str]:
    """What to read: the files, the database, or, for a query that names files, nothing."""
    files, database = list(options["files"] or ()), options["db"]
    both = "--db and FILE both say where the table is: give one of them"
    refuse(database is not None and files, both)
    if database is not None:
        known = database.startswith(("postgresql://", "postgres://"))
        scheme = database.partition(":")[0]  # what follows may hold a password
        refuse(not known, f"--db {scheme}... is no address: give postgresql://USER@HOST/NAME")
        files = [database]
    none = "nothing to read: give a FILE, or --db, or a --query that names files"
    if not files and options["query"] is None:
        raise WrongUseError(none)
    return files


def shown_tables(files: list[str]) -> str:
    """What is read, for a line of progress; never a password."""
    from rosenblatt.tables.formats.postgres import without_password

    return Path(without_password(files[0])).name if files else "the query"


def typed(arguments: Sequence[str]) -> str:
    """The command as it was typed, without passwords, and with ~ for the home folder.

    That folder is often the name of a person, and a model may go to others.
    """
    from rosenblatt.tables.formats.postgres import without_password

    home = re.compile(rf"(?<![\w./\\]){re.escape(str(Path.home()))}(?=[/\\]|$)")
    shown = [without_password(text) if "postgres" in text else text for text in arguments]
    if len(str(Path.home())) > 1:
        shown = [home.sub("~", text) for text in shown]
    front = ["~/" if text.startswith("~/") else "" for text in shown]  # which quotes would hide
    rest = [text.removeprefix("~/") for text in shown]
    quoted = (a + shlex.quote(b) if b or not a else a for a, b in zip(front, rest, strict=True))
    return " ".join(["rosenblatt", *quoted])


def refuse(condition: Any, why: str) -> None:
    """Say in one line what is not possible, and what to give instead."""
    if condition:
        raise ValueError(why)


def check_outputs(**outputs: str | None) -> None:
    """Refuse names that cannot be written before any work is done."""
    from rosenblatt.files.whole import check_writable

    for what, name in outputs.items():
        if name is None:
            continue
        article, accepted = "an" if what == "animation" else "a", " or ".join(SUFFIXES[what])
        refuse(
            Path(name).suffix.lower() not in SUFFIXES[what],
            f"{name} is no name for {article} {what}: let it end in {accepted}",
        )
        check_writable(name)


def check_readable(name: str | None) -> None:
    """Refuse a file that is not there before any work is done."""
    if name is not None:
        from rosenblatt.files.whole import existing

        existing(name, "give a file")


def refuse_overwriting(output: str | None, inputs: list[str]) -> None:
    """Refuse to write to a file that is read."""
    if output is not None and Path(output).exists():
        from rosenblatt.tables.staging import expanded

        named = [file for name in inputs for file in expanded(name)]
        same = any(Path(name).exists() and Path(output).samefile(name) for name in named)
        refuse(same, f"{output} is what is being read: write to another file")


def checkpoint_of(given: Mapping[str, Any]) -> Checkpoint | None:
    """The checkpoint that options ask for; None: none."""
    path, every, resume = given["checkpoint"], given["checkpoint_every"], given["resume"]
    for option, value in (("--resume", resume), ("--checkpoint-every", every)):
        refuse(value and path is None, f"{option} needs the file to go on from: --checkpoint PATH")
    if path is None:
        return None
    from rosenblatt.running.checkpoints import Checkpoint, Keeper

    refuse_overwriting(path, list(given["files"] or ()))
    written = [given.get(name) for name in ("output", "picture", "page")]
    same = any(name and Path(name).resolve() == Path(path).resolve() for name in written)
    refuse(same, f"--checkpoint {path} is to be written as something else, too: give another path")
    found = Checkpoint(path, 30.0 if every is None else seconds(every), resume)
    Keeper(found)  # refuses a file that is none of ours before any work is done
    return found


def check_page(page: str | None, time: str | None, inputs: list[str] | None) -> None:
    """Refuse a page that cannot be, and a time for one that was not asked for."""
    refuse(time is not None and page is None, "--report-time needs --report PAGE.html")
    if time is not None:
        seconds(time)
    refuse_overwriting(page, list(inputs or ()))


def folds_of(text: str) -> tuple[int, int]:
    """How many folds, and how often: ``5`` or ``5x3``."""
    found = re.fullmatch(r"(\d{1,9})(?:x(\d{1,2}))?", text.strip().lower())
    folds, times = (int(part or 1) for part in found.groups()) if found else (1, 1)
    wrong = folds == 1 or times == 0 or (folds == 0 and times > 1)
    wanted = "give 2 folds or more, 5x3 for five folds three times (99 at most), or 0 for none"
    refuse(wrong, f"--cv {text} is not possible: {wanted}")
    return folds, times


def check_seed(seed: int) -> None:
    """Refuse seeds that NumPy would not take."""
    most = 2**32 - 1
    wrong = not 0 <= seed <= most
    refuse(wrong, f"--seed {seed} is not possible: give a whole number from 0 to {most}")


def max_seconds(text: str | None) -> float | None:
    """Seconds, more than none; None if not given."""
    limit = None if text is None else seconds(text)
    none = f"--max-time {text} leaves no time at all: give something like 10s, 5m or 1h"
    refuse(limit == 0, none)
    return limit


def chosen_model(options: Mapping[str, Any]) -> str:
    """The name of the model; a kernel is reason enough for a kernel perceptron."""
    if options["model"] is not None:
        return str(options["model"])
    if options["kernel"] is not None:
        return "kernel"
    for name, kernel in CURVED.items():
        missing = f"{_option(name)} needs a kernel: add --kernel {kernel}"
        refuse(options.get(name) is not None, missing)
    return "perceptron"


def estimator_options(
    model: str, estimator: type, given: Mapping[str, Any], classes: NDArray[Any]
) -> dict[str, Any]:
    """The parameters that were given to a command, in the terms of the estimator of a model."""
    given = {RENAMED.get(name, name): given[name] for name in PARAMETERS if name in given}
    if "margin" not in model:  # nothing is random about the best hyperplane
        given["random_state"] = given["random_state"] or 0
    else:  # --seed is for the rows that are left out
        given["random_state"] = None
        given["fit_intercept"] = None if given["fit_intercept"] else given["fit_intercept"]
    accepted = inspect.signature(estimator).parameters
    options = {name: value for name, value in given.items() if value is not None}
    own = ", ".join(_option(known, model) for known in given if known in accepted)
    for name in options:
        strange = f"{_option(name)} is not for --model {model}: it takes {own}"
        refuse(name not in accepted, strange)
    if model == "kernel":
        options |= {name: _whole(name, options[name]) for name in LEAST if name in options}
        _check_kernel(options)
    vote = f"--keep vote is for --model kernel, not {model}: give auto, last, pocket or average"
    refuse(model != "kernel" and options.get("keep") == "vote", vote)
    options |= {name: numeric(name, options[name]) for name in NUMBERS if name in options}
    gap = options.get("tol", 0) if "margin" in model else 0
    refuse(gap >= 1, f"--tol {gap:g} is not possible: give a gap below 1, for instance 1e-6")
    options = usual_options(model, options, keeps="keep" in given)
    lone = "batch_size" in options and options.get("update") != "minibatch"
    refuse(lone, f"--batch-size {options.get('batch_size')} needs --update minibatch")
    lone = "shards" in options and options.get("update") != "mixed"
    refuse(lone, f"--shards {options.get('shards')} needs --update mixed")
    none = options.get("shards", 1) < 1
    refuse(none, f"--shards {options.get('shards')} is not possible: give a number from 1")
    if "max_time" in options:
        options["max_time"] = max_seconds(options["max_time"])
    if "init" in options and options["init"] not in ("zeros", "random"):
        wanted = "zeros, random, or numbers with commas between them"
        options["init"] = [_number("init", part, wanted) for part in options["init"].split(",")]
    joint = options.get("multiclass") == "joint"
    numbers = isinstance(options.get("init"), list)
    one = "--init takes one vector, which leaves classes that are one problem tied: give random"
    refuse(joint and numbers and len(classes) > 2, f"{one}, or leave --multiclass joint out")
    both = "--at-zero says where two classes meet: leave it out with --multiclass joint"
    refuse(joint and "at_zero" in options, both)
    if "at_zero" in options:
        side = options["at_zero"]
        refuse(side not in ("-1", "+1", "1"), f"--at-zero {side} is no side: give -1 or +1")
        options["at_zero"] = int(side)
    if "class_weight" in options and options["class_weight"] != "balanced":
        options["class_weight"] = _class_weights(options["class_weight"], classes)
    return options


def usual_options(model: str, options: Mapping[str, Any], *, keeps: bool = True) -> dict[str, Any]:
    """The options with what the command takes unless told otherwise, where Python takes less.

    Files are often sorted by class, which rules that take rows in turn do not forgive; and where
    the last vector does not separate the classes, it is as good as its last mistakes.
    """
    found = dict(options)
    if "margin" not in model and options.get("update") != "batch":
        found.setdefault("order", "shuffled")
    if keeps and model in ("perceptron", "kernel") and "budget" not in options:
        found.setdefault("keep", "auto")
    return found


def _check_kernel(options: Mapping[str, Any]) -> None:
    """Refuse numbers that the kernel has not, and a budget for what needs all vectors."""
    kernel = options.get("kernel", "rbf")
    own = KERNELS[kernel]
    takes = ", ".join(f"--{known}" for known in own) or "no numbers"
    for name in ("degree", "gamma", "coef0", "sigma"):
        strange = f"--{name} is not for --kernel {kernel}: it takes {takes}"
        refuse(name in options and name not in own, strange)
    both = "--gamma and --sigma are two names for one width: give one of them"
    refuse("gamma" in options and "sigma" in options, both)
    keep, order = options.get("keep", "last"), options.get("order", "cyclic")
    if "budget" in options:
        needs = f"--budget forgets vectors that --keep {keep} needs: leave one of them out"
        refuse(keep != "last", needs)
        refuse(
            order.endswith("-mistake"),
            f"--budget takes rows in turn, but --order {order} picks among all of them: "
            "give --order cyclic, shuffled, sampled or blocks",
        )


def _option(name: str, model: str = "") -> str:
    """A parameter as the command has it."""
    bias = "--intercept" if model == "kernel" else "--no-intercept"
    known = {"random_state": "--seed", "fit_intercept": bias}
    return known.get(name, f"--{name.replace('_', '-')}")


def numeric(option: str, text: str) -> Any:
    """What an option that takes a number, or a word instead, was given."""
    return text if text in WORDS.get(option, ()) else _number(option, text, NUMBERS[option])


def _number(option: str, text: str, wanted: str) -> float:
    """A number that floats can hold, from what was typed."""
    try:
        value = float(text)
    except ValueError:
        msg = f"--{option} {text!r} is not a number: give {wanted}"
        raise ValueError(msg) from None
    digits = text.lower().partition("e")[0].strip("+-_.0 ")
    what = ""
    if value == 0 and digits:
        what = "too close to 0 for floats"
    elif not math.isfinite(value):
        what = "beyond floats, which end at 1.8e308" if digits[:1].isdigit() else "not finite"
    refuse(what, f"--{option} {text} is {what}: give {wanted}")
    return value


def _whole(name: str, text: str) -> int:
    """A whole number that is large enough."""
    least = LEAST[name]
    whole = int(text) if text.strip().isdecimal() else 0
    more = f" to {MOST}" if whole > MOST else ""
    more += " (1 would drop every mistake at once)" if name == "drop_after" else ""
    wanted = f"give a whole number from {least}{more}"
    refuse(not least <= whole <= MOST, f"{_option(name)} {text} is not possible: {wanted}")
    return whole


def _class_weights(text: str, classes: NDArray[Any]) -> dict[Any, float]:
    """``spam=2,ham=1`` as a dict with the labels themselves as keys."""
    from rosenblatt.report.sentences import listing

    labels = {str(label): label for label in classes.tolist()}
    weights = {}
    for part in text.split(","):
        name, found, weight = part.rpartition("=")
        refuse(
            not found or name.strip() not in labels,
            f"--class-weight {part!r} is not a class with its weight: give 'balanced' or "
            f"CLASS=WEIGHT with commas; the classes are {listing(sorted(labels))}",
        )
        weights[labels[name.strip()]] = _number("class-weight", weight, "CLASS=WEIGHT")
    return weights


def seconds(text: str) -> float:
    """A duration such as ``10``, ``10s``, ``1.5m`` or ``1h30m``."""
    parts = re.findall(r"(\d+(?:\.\d*)?|\.\d+)\s*(ms|s|min|m|h)?\s*", text)
    whole = "".join(f"{a}{b}" for a, b in parts)
    unclear = len(parts) > 1 and not all(unit for _, unit in parts)
    refuse(
        not parts or unclear or whole != re.sub(r"\s", "", text),
        f"{text!r} is not a duration: give seconds, or something like 10s, 5m or 1h30m",
    )
    return sum(float(a) * UNITS[b or "s"] for a, b in parts)
