"""Kernels in the command: the verdict and the mistake bound in feature space."""

import json
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import PENGUINS, call, fitted, one_line, table, xor_table
from rosenblatt.nearest.working_set import Clock
from rosenblatt.report import judging, sentences
from rosenblatt.results import Verdict
from rosenblatt.separation import feature_vectors
from rosenblatt.separation import function as separability
from rosenblatt.separation.kernel_vectors import KernelSums

pytestmark = pytest.mark.usefixtures("plain_terminal")


def printed(*arguments, code=0):
    return one_line(call(*arguments, code=code).stdout)


def verdict(*arguments, code=0):
    """The verdict, whether it is proved and why, for the one problem of two classes."""
    found = fitted(*arguments, "--cv", 0, code=code)
    ((name,), (proved,), (why,)) = found["verdicts"], found["proved"], found["evidence"]
    return name, proved, why


def circles(share=0.0):
    clean = rb.datasets.circles(100, noise=0.1, random_state=0)
    return rb.datasets.flip_labels(clean, share, random_state=1) if share else clean


def circles_table(share=0.0):
    X, y = circles(share)
    names = np.where(y > 0, "outer", "inner")
    return table("rings.csv", {"x1": X[:, 0], "x2": X[:, 1], "ring": names})


# ----------------------------------------------------------------- a run that has separated


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ([], "proved by this model"),
        (["--keep", "pocket"], "proved by this model"),
        (["--budget", "90"], "proved by this model"),
        (["--drop-after", "90"], "proved by this model"),
        (["--intercept", "--class-weight", "balanced"], "proved by this model"),
        (["--keep", "average"], "proved by the last vector of the run"),
        (["--keep", "vote"], "proved by the last vector of the run"),
    ],
)
@pytest.mark.parametrize("kernel", [["rbf"], ["poly", "--degree", "2"]])
def test_a_run_that_separated_is_the_proof(kernel, options, why, monkeypatch):
    def forbidden(*_, **__):
        pytest.fail("there is nothing to look for")

    monkeypatch.setattr(judging, "separability", forbidden)
    name = circles_table()
    assert verdict(name, "--kernel", *kernel, *options) == ("SEPARABLE", True, why)


def test_the_report_and_the_file_have_it():
    name = circles_table()
    text = printed("fit", name, "--kernel", "rbf", "--cv", 0, "-o", "m.skops")
    line = (
        "verdict separable in feature space after standardising: proved by this model "
        "kept the last vector, for it makes no mistakes training"
    )
    assert line in text
    assert line in printed("show", "m.skops")
    assert json.loads(call("show", "m.skops", "--json").stdout)["proved"] == [True]
    raw = printed("fit", name, "--kernel", "rbf", "--raw")
    assert "verdict separable in feature space: proved by this model" in raw


def test_rows_that_were_dropped_or_had_no_weight_count():
    name = circles_table(0.05)
    options = ("--kernel", "poly", "--degree", 2)
    found = fitted(name, *options, "--drop-after", 5, "--cv", 0)
    assert found["stop_reasons"] == ["NO_MISTAKES"]
    assert found["dropped"]
    assert found["verdicts"] == ["INSEPARABLE"]
    found = fitted(name, *options, "--class-weight", "inner=0", "--cv", 0)
    assert found["stop_reasons"] == ["SEPARATED"]
    assert found["verdicts"] == ["INSEPARABLE"]


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "poly"])
def test_the_rounding_of_a_proof_is_no_less_than_it_is(kernel, bias):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3)) * 10.0 ** rng.integers(-3, 4, (30, 1))
    y = np.where(X[:, 0] > 0, 1, -1)
    model = rb.KernelPerceptron(kernel=kernel, degree=3, gamma=0.1, fit_intercept=bias)
    model.set_params(max_epochs=20).fit(X, y)
    (fit,) = model.fits_
    sums = KernelSums(model.kernel_, float(bias), X)
    values, off = sums.of(model.support_vectors_, fit.last)
    exact = [[Fraction(v) for v in row] for row in X]
    for i, row in enumerate(exact):
        f = Fraction(0)
        for j, c in zip(model.support_, fit.last, strict=True):
            product = sum(a * b for a, b in zip(row, exact[j], strict=True))
            if kernel == "poly":
                product = (Fraction(0.1) * product + 1) ** 3
            f += Fraction(c) * (product + bias)
        assert abs(Fraction(values[i]) - f) <= Fraction(off[i])
        assert off[i] <= 1e-9 * (abs(values[i]) + np.abs(values).max())


def test_a_sign_that_rounding_could_have_made_is_no_proof(monkeypatch):
    sums_of = KernelSums.of

    def coarse(*given):
        f, off = sums_of(*given)
        return f, off + np.abs(f).min()

    monkeypatch.setattr(KernelSums, "of", coarse)
    name = circles_table()
    why = "shown by this model, as far as rounding lets one tell"
    assert verdict(name, "--kernel", "poly", "--degree", 2) == ("SEPARABLE", False, why)
    assert verdict(name, "--kernel", "rbf") == ("SEPARABLE", True, sentences.ALWAYS)


# ------------------------------------------------------------------- one that has not


@pytest.mark.parametrize("kernel", ["rbf", "gaussian", "poly", "linear", "sigmoid"])
def test_identical_rows_of_two_classes(kernel):
    """They are named as rows of the file, of which the first has no class."""
    x, label = [7, 1, 2, 3, 4, 2, 3], ["", "a", "a", "b", "b", "b", "b"]
    name = table("t.csv", {"x": x, "y": label})
    why = "rows 3 and 6 are identical but have different classes"
    options = ("--kernel", kernel, "--max-epochs", 5)
    found = verdict(name, *options)
    assert found == ("INSEPARABLE", True, why)


def test_rows_that_only_rounding_made_the_same():
    name = table("t.csv", {"x": [1e17, 1e17 + 16, -3e20, 5e20], "y": list("abab")})
    state, proved, why = verdict(name, "--kernel", "rbf", "--max-epochs", 3)
    assert (state, proved) == ("INSEPARABLE", True)
    assert why == "rows 1 and 2 have different classes, and rounding made them the same"


def test_a_gaussian_kernel_separates_whatever_differs():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(80, 2)), rng.integers(0, 2, 80)
    name = table("t.csv", {"x1": X[:, 0], "x2": X[:, 1], "y": y})
    options = ("--max-epochs", 3, "--kernel")
    for kernel in ("rbf", "gaussian"):
        assert verdict(name, *options, kernel) == ("SEPARABLE", True, sentences.ALWAYS)
    text = printed("fit", name, *options, "rbf", "--cv", 0)
    assert "certain with this kernel: rows that differ can always be separated" in text
    assert "or a larger --max-epochs" in text


def test_it_is_what_python_says():
    X, y = circles(0.05)
    name = circles_table(0.05)
    options = ("--max-epochs", 5, "--raw", "--kernel", "poly", "--gamma", 1, "--degree")
    for degree in (2, 3):
        kernel = rb.kernels.Polynomial(degree)
        found = rb.separability(X, y, kernel=kernel)
        assert found.verdict is Verdict.INSEPARABLE
        state, proved, why = verdict(name, *options, degree)
        assert (state, proved) == (found.verdict.name, found.exact)
        assert f"shown by {len(found.support)} rows, as far as values with an error of" in why
        assert f"an error of {found.tolerance:.2g} can tell" in why
        assert "no hyperplane through the origin has the classes on its two sides" in why


def test_few_rows_are_named_and_proved():
    name = xor_table()
    options = ("--kernel", "linear", "--raw", "--order", "cyclic")
    inseparable = "no hyperplane{} has the classes on its two sides; proved by {}; so no run can "
    inseparable += "end"
    why = inseparable.format(" through the origin", "row 1, which is at the origin")
    assert verdict(name, *options) == ("INSEPARABLE", True, why)
    why = inseparable.format("", "rows 1, 2, 3 and 4")
    assert verdict(name, *options, "--intercept") == ("INSEPARABLE", True, why)
    assert "a larger --max-epochs" not in printed(
        "fit", name, "--kernel", "poly", "--degree", 1, "--raw", "--max-epochs", 3, "--cv", 0
    )


def test_separable_though_the_run_did_not_end():
    name = table("t.csv", {"x": [10.0, 10.1, 12, 13], "y": list("aabb")})
    options = ("--kernel", "linear", "--raw", "--max-epochs", 2)
    state, proved, why = verdict(name, *options, "--intercept")
    assert (state, proved) == ("SEPARABLE", True)
    assert why == "a hyperplane has every row strictly on its right side; proved"
    assert verdict(name, *options)[0] == "INSEPARABLE"


def test_several_classes_are_judged_each():
    found = fitted(PENGUINS, "-t", "species", "--kernel", "rbf", "--cv", 0)
    assert found["verdicts"] == ["SEPARABLE"] * 3
    assert found["evidence"] == ["proved by this model"] * 3
    x, label = [1, 2, 5, 6, 9, 9], list("aabbcb")
    name = table("t.csv", {"x": x, "y": label})
    found = fitted(name, "--kernel", "rbf", "--max-epochs", 50, "--cv", 0)
    assert found["verdicts"] == ["SEPARABLE", "INSEPARABLE", "INSEPARABLE"]
    assert found["evidence"][1] == "rows 5 and 6 are identical but have different classes"


def test_text_columns_that_make_a_sparse_matrix():
    rng = np.random.default_rng(0)
    words = rng.choice([f"w{k}" for k in range(40)], (300, 2))
    labels = np.where(words[:, 0] < "w2", "yes", "no")
    name = table("t.csv", {"a": words[:, 0], "b": words[:, 1], "y": labels})
    for kernel in ("rbf", "poly", "linear"):
        assert verdict(name, "--kernel", kernel) == ("SEPARABLE", True, "proved by this model")


# --------------------------------------------------------------- where nothing can be said


def undecided(*options, name=None, code=0):
    state, proved, why = verdict(name or circles_table(0.05), *options, code=code)
    assert (state, proved) == ("UNDECIDED", False)
    assert "\n" not in why
    return why


def test_a_kernel_that_is_no_inner_product():
    why = "this kernel is no inner product of these rows, so there is no such space"
    assert undecided("--kernel", "sigmoid", "--max-epochs", 3) == why
    assert undecided("--kernel", "poly", "--coef0", -3, "--degree", 3, "--max-epochs", 3) == why


def test_too_many_rows(monkeypatch):
    for module in (judging, feature_vectors):
        monkeypatch.setattr(module, "SAMPLES", 99)
    why = "not looked for among more than 99 rows with this kernel"
    assert undecided("--kernel", "sigmoid", "--max-epochs", 3) == why
    assert verdict("rings.csv", "--kernel", "poly", "--max-epochs", 3)[0] == "INSEPARABLE"


def test_time_is_up(monkeypatch):
    options = ("--kernel", "poly", "--max-epochs", 3)
    monkeypatch.setattr(judging, "PATIENCE", 0)
    assert undecided(*options) == sentences.TIME_UP
    monkeypatch.setattr(judging, "PATIENCE", 3)
    search = separability.find_certificate
    monkeypatch.setattr(
        separability,
        "find_certificate",
        lambda *given: search(*given[:3], Clock(0.0), *given[4:]),
    )
    assert undecided(*options) == sentences.TIME_UP


def test_products_that_overflow():
    name = table("t.csv", {"x": [1e120, -2e120, 3e120, 4e120], "y": list("abab")})
    options = ("--kernel", "poly", "--coef0", 0, "--raw", "--max-epochs", 3)
    why = undecided(*options, "--degree", 3, "--gamma", 1e-240, name=name)
    assert why == "the products of 3 features overflow: scale the features"
    why = undecided(*options, "--degree", 2, "--gamma", 1e-240, name=name)
    assert why == "floating point cannot tell how far the features are off: scale them"


def test_ctrl_c_while_it_is_looked_for(monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(judging, "separability", stop)
    options = ("--kernel", "poly", "--degree", 2, "--max-epochs", 3, "-o", "m.skops")
    assert undecided(*options, code=130) == sentences.STOPPED
    assert rb.io.load("m.skops")[-1].n_iter_ == 3


# ------------------------------------------------------------------------ which model it is


def test_a_kernel_is_reason_enough():
    name = circles_table()
    with_model = fitted(name, "--model", "kernel", "--kernel", "poly", "--cv", 0)
    without = fitted(name, "--kernel", "poly", "--cv", 0)
    assert without["model"] == "KernelPerceptron"
    assert without["expansion"] == with_model["expansion"]


@pytest.mark.parametrize("command", ["fit", "bound"])
@pytest.mark.parametrize(
    ("option", "remedy"),
    [("gamma", "rbf"), ("sigma", "gaussian"), ("degree", "poly"), ("coef0", "poly")],
)
def test_numbers_of_a_kernel_need_one(command, option, remedy):
    said = call(command, circles_table(), f"--{option}", 2, code=2).stderr
    assert said == f"rosenblatt: --{option} needs a kernel: add --kernel {remedy}\n"


def test_limits_need_a_kernel():
    for option in ("--drop-after", "--budget"):
        said = call("fit", circles_table(), option, 5, code=2).stderr
        assert said == f"rosenblatt: {option} needs a kernel: add --kernel rbf\n"


# ----------------------------------------------------------------------------- the bound


def bound(*arguments, code=0):
    return json.loads(call("bound", *arguments, "--json", code=code).stdout)


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize(
    ("options", "kernel"),
    [
        (["poly", "--degree", "2", "--gamma", "1"], rb.kernels.Polynomial(2)),
        (["rbf", "--gamma", "2"], rb.kernels.RBF(2.0)),
        (["gaussian", "--sigma", "0.5"], rb.kernels.Gaussian(0.5)),
    ],
)
def test_bound_is_that_of_python(options, kernel, bias):
    X, y = circles()
    name = circles_table()
    model = rb.KernelPerceptron(
        kernel=kernel, fit_intercept=bias, record=True, order="shuffled", random_state=0
    )
    report = model.fit(X, y).bound_report(X, y)
    told = bound(name, "--raw", "--kernel", *options, *["--intercept"] * bias)
    (one,) = told["problems"]
    assert told["kernel"]["formula"] == kernel.formula + " + 1" * bias
    assert (told["separable"], told["intercept"]) == (True, bias)
    assert one["R"] == pytest.approx(report.bound.R)
    assert one["gamma"] == pytest.approx(report.bound.gamma)
    assert one["bound"] == pytest.approx(report.bound.bound, rel=1e-6)
    assert one["mistakes"] == model.n_mistakes_ <= one["bound"]
    assert (one["within"], one["progress_holds"], one["length2_holds"]) == (True, True, True)


def test_bound_in_words_and_in_a_picture():
    name = circles_table()
    options = (name, "--kernel", "poly", "--degree", 2)
    told = bound(*options)
    (one,) = told["problems"]
    text = printed("bound", *options, "--plot", "bound.png")
    for piece in (
        f"kernel {told['kernel']['formula']} run {one['mistakes']} mistakes in",
        f"at most {int(one['bound'])} mistakes, however long it runs: (R/γ)²",
        f"R = {one['R']:.4g}, γ = {one['gamma']:.4g}; of φ(x), standardised",
        "drawn bound.png",
    ):
        assert piece in text
    assert Path("bound.png").stat().st_size > 10_000
    text = printed("bound", *options, "--raw", "--intercept")
    assert "; of (φ(x), 1), in the columns' own units" in text
    assert call("bound", *options, "-q").output == ""


def test_bound_for_several_classes():
    told = bound(PENGUINS, "-t", "species", "--model", "kernel", "--ignore", "sex")
    assert [one["positive"] for one in told["problems"]] == ["Adelie", "Chinstrap", "Gentoo"]
    assert told["kernel"]["name"] == "rbf"
    assert all(one["within"] and one["separable"] for one in told["problems"])


def test_no_bound_holds_for_ever():
    name = xor_table()
    options = ("--kernel", "linear", "--raw", "--max-epochs", 4)
    (one,) = bound(name, *options, code=1)["problems"]
    assert one["separable"] is False
    assert one["bound_epochs"] == one["epochs"]
    text = printed("bound", name, *options, code=1)
    assert "separable no: no hyperplane through the origin of feature space separates" in text
    assert "next another kernel may separate the classes: try --kernel poly" in text
    text = printed("bound", name, *options, "--intercept", code=1)
    assert "no: no hyperplane in feature space separates the classes, and no bound holds" in text


def test_no_kernel_is_advised_where_none_helps():
    name = table("t.csv", {"x": [5, 1, 1, 2], "y": ["", "a", "b", "a"]})
    options = (name, "--kernel", "rbf", "--max-epochs", 3)
    assert bound(*options, code=1)["identical"] == [2, 3]
    text = printed("bound", *options, code=1)
    assert "next rows 2 and 3 are the same but for their classes: no kernel separates" in text


def test_no_bound_is_known_for_ever():
    name = circles_table(0.05)
    options = ("--kernel", "poly", "--degree", 2, "--max-epochs", 4)
    (one,) = bound(name, *options, code=1)["problems"]
    assert one["separable"] is None
    assert one["bound_epochs"] == 4
    text = printed("bound", name, *options, code=1)
    assert "separable unknown: no hyperplane through the origin of feature space separates" in text
    assert "by more than rounding, and no bound is known for ever" in text
    assert "try a larger --degree" in text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--kernel", "rbf", "--update", "batch"], "--update is not for --model kernel: it takes"),
        (["--kernel", "rbf", "--init", "random"], "--init is not for --model kernel"),
        (["--kernel", "rbf", "--eta0", "2"], "--eta0 is not for --model kernel"),
        (
            ["--kernel", "rbf", "--degree", "2"],
            "--degree is not for --kernel rbf: it takes --gamma",
        ),
        (["--kernel", "poly", "--degree", "2.5"], "--degree 2.5 is not possible: give a whole"),
        (["--kernel", "rbf", "--budget", "9"], "no such option: --budget"),
        (["--model", "perceptron", "--kernel", "rbf"], "--kernel is not for --model perceptron"),
        (["--model", "adaline"], "'adaline' is not one of 'perceptron', 'kernel'"),
        (
            ["--kernel", "sigmoid", "--max-epochs", "3"],
            "--kernel sigmoid is no inner product of these rows, so there is no bound: give --ker",
        ),
        (
            ["--kernel", "poly", "--degree", "5000", "--max-epochs", "2"],
            "scale the features, or give smaller weights, or a smaller gamma or degree",
        ),
    ],
)
def test_bounds_that_there_are_not(options, message):
    assert message in call("bound", circles_table(), *options, code=2).stderr


def test_a_bound_of_values_near_the_largest_float():
    options = ("--kernel", "poly", "--degree", 500, "--max-epochs", 2)
    said = call("bound", circles_table(), *options, code=1).stdout
    assert "at most 200 mistakes in 2 epochs: nE, a mistake per visit" in said


def test_a_bound_of_too_many_rows_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr(feature_vectors, "SAMPLES", 99)
    monkeypatch.setattr(rb.KernelPerceptron, "fit", lambda *_: pytest.fail("it was trained"))
    said = call("bound", circles_table(), "--kernel", "sigmoid", code=2).stderr
    assert "100 rows are too many to see whether --kernel sigmoid is an inner product" in said


# --------------------------------------------------------------------- without any kernel


def test_a_cycle_without_a_bias_is_not_put_down_to_rounding():
    name = table("t.csv", {"x": [1, 2], "y": list("ab")})
    found = fitted(name, "--raw", "--no-intercept", "--cv", 0, "--order", "cyclic")
    assert (found["stop_reasons"], found["verdicts"]) == (["CYCLE"], ["SEPARABLE"])
    assert found["evidence"][0].endswith(", with a bias")
    assert found["proved"] == [True]


# ------------------------------------------------------------------- what to do next


def told(*arguments):
    """The report of a fit, without its line breaks."""
    return one_line(call("fit", *arguments, "--cv", 0).stdout)


def test_no_other_curve_is_advised_where_none_would_do():
    name = table("t.csv", {"a": [1, 1, 3, 0], "b": [2, 2, 1, 5], "y": list("pqpq")})
    said = told(name, "--raw", "--kernel", "poly", "--max-epochs", 5)
    assert "next try --drop-after 10 to leave outliers out" in said


def test_a_row_at_the_origin_needs_a_bias():
    options = ("--raw", "--kernel", "poly", "--degree", 2, "--gamma", 1, "--coef0", 0)
    assert "next try --intercept" in told(xor_table(), *options)
    assert "separable in feature space" in told(xor_table(), *options, "--intercept")


def test_a_kernel_that_is_no_inner_product_needs_a_larger_constant():
    X, y = rb.datasets.circles(40, noise=0.3, random_state=0)
    name = table("c.csv", {"a": X[:, 0], "b": X[:, 1], "y": y})
    said = told(name, "--kernel", "poly", "--coef0", -1, "--max-epochs", 3)
    assert "next try --coef0 0 or more" in said


def test_counters_that_were_forgotten_are_not_named():
    X, y = rb.datasets.circles(40, noise=0.3, random_state=0)
    name = table("c.csv", {"a": X[:, 0], "b": X[:, 1], "y": y})
    options = ("--kernel", "gaussian", "--max-epochs", 3)
    assert "hardest" in told(name, *options)
    assert "hardest" not in told(name, *options, "--budget", 5)


def test_where_the_width_came_from():
    assert "1/(features·variance), which is 1/(2·sigma²)" in told(
        xor_table(), "--kernel", "gaussian"
    )
    assert "gamma" not in told(xor_table(), "--kernel", "gaussian", "--sigma", 2)


def test_an_unknown_kernel():
    said = call("fit", xor_table(), "--kernel", "laplace", code=2).stderr
    assert said.startswith("rosenblatt: invalid value for '--kernel': 'laplace' is not one of")


ROUNDED = {"x": [1e17, 1e17 + 16, -3e20, 5e20], "y": list("abab")}  # rows 1 and 2 become the same
PART = {"x": [1, 1, 2, 3], "z": [5, 6, 7, 8], "y": list("abab")}  # they differ in z


@pytest.mark.parametrize("kernel", ["rbf", "gaussian", "poly"])
@pytest.mark.parametrize(("columns", "more"), [(ROUNDED, ()), (PART, ("--ignore", "z"))])
def test_no_other_curve_where_rows_are_the_same(kernel, columns, more):
    """Whether they are the same in the file, after rounding, or in the columns used."""
    name = table("t.csv", columns)
    options = ("--kernel", kernel, "--max-epochs", 3, "--cv", 0, *more)
    found = fitted(name, *options)
    (ground,) = found["grounds"]
    assert (ground["ground"], ground["rows"]) == ("SAME_ROWS", [1, 2])
    assert ground.get("rounded", False) is (columns is ROUNDED)
    assert ground.get("some_columns", False) is (columns is PART)
    call("fit", name, *options, "-q", "-o", "m.skops")
    wanted = "next try --drop-after 10 to leave outliers out"
    for text in (printed("fit", name, *options), printed("show", "m.skops")):
        assert wanted in text


def test_no_other_curve_in_files_of_version_0_1():
    """They have only the sentence; that rows are the same follows from the verdict."""
    name = table("t.csv", ROUNDED)
    call("fit", name, "--kernel", "rbf", "--max-epochs", 3, "--cv", 0, "-q", "-o", "m.skops")
    model = rb.io.load("m.skops")
    told = model.summary_["evidence"][0]
    del model.summary_["grounds"]
    rb.io.save(model, "old.skops", summary=model.summary_)
    text = printed("show", "old.skops")
    assert told in text
    assert "next try --drop-after 10 to leave outliers out" in text
    assert json.loads(call("show", "old.skops", "--json").stdout)["evidence"] == [told]


@pytest.mark.parametrize(
    "ground",
    [
        {"ground": "NOTHING"},
        {"ground": "SAME_ROWS"},
        {"ground": "HYPERPLANE"},
        {"ground": "HULLS", "rows": [1], "in_features": True},
        {"ground": "TIME", "rows": ["one"]},
    ],
)
def test_damaged_grounds_are_named(ground):
    name = table("t.csv", ROUNDED)
    call("fit", name, "--max-epochs", 3, "--cv", 0, "-q", "-o", "m.skops")
    model = rb.io.load("m.skops")
    model.summary_ |= {"grounds": [ground], "proved": [False]}
    rb.io.save(model, "m.skops", summary=model.summary_)
    assert "m.skops is damaged (grounds in its summary)" in call("show", "m.skops", code=2).stderr
