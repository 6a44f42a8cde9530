"""The kernel perceptron beside kernel SVMs and the textbook loop: ``python -m benchmarks.kernel``.

Same data, same process, same kernel; training and prediction timed separately, test errors beside
them. ``ROSENBLATT_DATA`` names the folder with MNIST. The SVM takes minutes on it.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

from benchmarks.measure import Table, data_file, write_json, write_report

RESULTS = Path(__file__).parent / "results" / "kernel.json"
DEVICE = Path(__file__).parent / "results" / "kernel_device.json"
INTRODUCTION = """# The kernel perceptron

What `python -m benchmarks.kernel` measured: `rosenblatt.KernelPerceptron` beside scikit-learn's
`SVC` (LIBSVM) on the same data, in the same process; ours the median of several runs, the SVM once.
Times are in seconds. *times faster* is the SVM's time over ours in the last row above it, and says
little without the test errors beside it: on the waves, which a wide kernel fits closely, the SVM
has fewer of them.

The kernel perceptron's work is that of its kernel values, one for each sample and each mistake on a
support vector; *share of GEMM* is the rate of floating-point operations that their inner products
need, over the rate of a large matrix product in single precision on all cores. With few features
most of the time goes into exponentials, not into products.

Memory beyond X: the support vectors, once as given and once in single precision; two numbers (three
for an average) for each sample and class; and for each thread a matrix of 512 x 512 kernel values.
The Gram matrix is made only where it fits into 256 MiB, and once it pays.

The last table is from `python -m benchmarks.kernel_device`, on another machine with a graphics
card: the same mistakes as on the processor. There the single steps within the blocks, which remain
on the processor, and the transfers take most of the time, so that the share of the card's rate is
small.
"""


def gemm_rate(n: int = 4096) -> float:
    """Floating-point operations per second of a large product in single precision."""
    import numpy as np

    A = np.random.default_rng(0).random((n, n), np.float32)
    times = []
    for _ in range(4):
        began = time.perf_counter()
        A @ A
        times.append(time.perf_counter() - began)
    return float(2.0 * n**3 / min(times))


def timed(task: Any, repeats: int = 1) -> tuple[float, Any]:
    """Median seconds of a task, and its last result."""
    times, result = [], None
    for _ in range(repeats):
        began = time.perf_counter()
        result = task()
        times.append(time.perf_counter() - began)
    return statistics.median(times), result


def columns_of(model: Any, X: Any, y: Any) -> int:
    """Samples with mistakes, summed over the epochs: so many columns of values were needed."""
    import numpy as np
    from sklearn.base import clone

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        traces = clone(model).set_params(record=True).fit(X, y).trace_
    updates = [t.updates for t in (traces if isinstance(traces, tuple) else (traces,))]
    pairs = np.concatenate([np.column_stack([u.epoch, u.sample]) for u in updates])
    return len(np.unique(pairs, axis=0))


def against_svm(table: Table, name: str, data: Any, model: Any, svms: Any, repeats: int) -> None:
    """One of ours beside some SVMs."""
    from sklearn.base import clone

    (X, y), (T, t) = data
    rate = gemm_rate()
    clone(model).fit(X[:500], y[:500])  # compile
    seconds, fitted = timed(lambda: clone(model).fit(X, y), repeats)
    again, chosen = timed(lambda: fitted.predict(T), repeats)
    work = 2.0 * len(X) * columns_of(model, X, y) * X.shape[1]
    ours = {
        "case": name,
        "classifier": f"KernelPerceptron, {fitted.kernel_.formula}, {fitted.keep}, "
        f"{fitted.n_iter_} epoch{'s' * (fitted.n_iter_ > 1)}",
        "train": seconds,
        "predict": again,
        "test error": f"{(chosen != t).mean():.2%}",
        "support": len(fitted.support_),
        "times faster, training": "",
        "times faster, predicting": "",
        "share of GEMM": work / seconds / rate,
    }
    table.add(**ours)
    for svm in svms:
        took, other = timed(lambda svm=svm: clone(svm).fit(X, y))
        longer, theirs = timed(lambda other=other: other.predict(T))
        table.add(
            case=name,
            classifier=f"SVC, {svm.kernel}, gamma={svm.gamma}, C={svm.C:g}",
            train=took,
            predict=longer,
            **{
                "test error": f"{(theirs != t).mean():.2%}",
                "support": len(other.support_),
                "times faster, training": took / seconds,
                "times faster, predicting": longer / again,
            },
        )


def svm_cases(table: Table, repeats: int, quick: bool) -> None:
    """MNIST, smaller digits, and 20 features."""
    from sklearn.svm import SVC

    import rosenblatt as rb
    from benchmarks.kernel_data import digits, small_digits, waves

    def fourth(epochs: int) -> Any:
        return rb.KernelPerceptron(
            kernel="poly", degree=4, gamma=1, keep="average", max_epochs=epochs
        )

    def svc(gamma: Any, **more: Any) -> Any:
        return SVC(kernel="poly", degree=4, coef0=1, gamma=gamma, cache_size=2000, **more)

    small = small_digits("train", 2_000 if quick else 9_000), small_digits("t10k", 2_000)
    if small[0] is not None:
        name = "digits 9 000 x 256"
        against_svm(table, name, small, fourth(3), [], repeats)
        against_svm(table, name, small, fourth(1), [svc(1), svc(0.02)], repeats)
    n = 4_000 if quick else 20_000
    X, y = waves(n + 5_000, 20)
    parts = (X[:n], y[:n]), (X[n:], y[n:])
    rbf = rb.KernelPerceptron(gamma=0.1, keep="average", max_epochs=10)
    svms = [SVC(gamma=0.1, C=C, cache_size=2000) for C in (1, 100)]
    against_svm(table, f"waves {n} x 20", parts, rbf, svms, repeats)
    train, test = digits("train"), digits("t10k")
    if train is None or test is None:
        print("no MNIST: set ROSENBLATT_DATA")
    elif not quick:
        svms = [svc(1), svc(0.02)]
        against_svm(table, "MNIST 60 000 x 784", (train, test), fourth(3), svms, repeats)


def textbook(X: Any, y: Any, kernel: Any, epochs: int) -> tuple[int, Any]:
    """The algorithm as it is written, in NumPy: a product with all support vectors per visit."""
    import numpy as np

    classes = np.unique(y)
    positives = classes[1:] if len(classes) == 2 else classes
    Y = np.where(y[:, np.newaxis] == positives, 1.0, -1.0)
    alpha = np.zeros((len(X), len(positives)))
    support: list[int] = []
    mistakes = 0
    for _ in range(epochs):
        for j in range(len(X)):
            scores = np.zeros(len(positives))
            if support:
                scores = kernel(X[support], X[j]) @ (alpha[support] * Y[support])
            wrong = Y[j] * scores <= 0
            if wrong.any():
                if not alpha[j].any():
                    support.append(j)
                alpha[j] += wrong
                mistakes += int(wrong.sum())
    return mistakes, alpha


def fourth_power(V: Any, x: Any) -> Any:
    """``(v·x + 1)^4`` for all rows v."""
    return (V @ x + 1) ** 4


def gaussian(V: Any, x: Any) -> Any:
    """``exp(-0.05‖v - x‖²)`` for all rows v."""
    import numpy as np

    return np.exp(-0.05 * ((V - x) ** 2).sum(axis=1))


def against_textbook(table: Table, repeats: int, quick: bool) -> None:
    """The same mistakes as a loop over the samples: few epochs, and many."""
    import numpy as np

    import rosenblatt as rb
    from benchmarks.kernel_data import small_digits

    poly = rb.KernelPerceptron(kernel="poly", degree=4, gamma=1, max_epochs=3)
    rbf = rb.KernelPerceptron(gamma=0.05, max_epochs=5 if quick else 50)
    cases = []
    if (data := small_digits("train", 1_000 if quick else 5_000)) is not None:
        cases.append(("digits", data[0].astype("float64"), data[1], poly, fourth_power))
    if (file := data_file("spambase.data")) is not None:
        mail = np.genfromtxt(file, delimiter=",")
        X = (mail[:, :-1] - mail[:, :-1].mean(axis=0)) / mail[:, :-1].std(axis=0)
        cases.append(("spambase", X, mail[:, -1], rbf, gaussian))
    for name, X, y, model, kernel in cases:
        epochs = model.max_epochs
        seconds, fitted = timed(lambda m=model, X=X, y=y: m.fit(X, y), repeats)
        longer, (mistakes, _) = timed(
            lambda X=X, y=y, k=kernel, epochs=epochs: textbook(X, y, k, epochs)
        )
        table.add(
            case=f"{name} {len(X)} x {X.shape[1]}, {epochs} epochs",
            ours=seconds,
            textbook=longer,
            **{
                "times faster": longer / seconds,
                "mistakes, ours": int(np.sum(fitted.n_mistakes_)),
                "mistakes, textbook": mistakes,
            },
        )


MEMORY = """
import sys, tracemalloc, warnings
warnings.simplefilter("ignore")
import numpy as np
import rosenblatt as rb
from benchmarks.kernel_data import waves
X, y = waves(int(sys.argv[1]), 100)
X = X.astype(np.float64)
rb.KernelPerceptron(gamma=0.02, max_epochs=1).fit(X[:1000], y[:1000])
tracemalloc.start()
model = rb.KernelPerceptron(gamma=0.02, max_epochs=2).fit(X, y)
peak = tracemalloc.get_traced_memory()[1]
print(X.nbytes / 1e6, peak / 1e6, len(model.support_), 8 * len(X) ** 2 / 1e6)
"""


def memory(table: Table, n: int) -> None:
    """Peak memory beyond the data, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, str(n)], capture_output=True, text=True, check=True
    )
    X, more, support, gram = (float(word) for word in done.stdout.split())
    table.add(
        case=f"waves {n} x 100, float64",
        **{
            "X, MB": X,
            "beyond X, MB": more,
            "support": int(support),
            "support vectors, MB": support * 800 / 1e6,
            "Gram matrix, MB": gram,
        },
    )


def _with_device() -> Path:
    """The results, and those of a device if they are there, in one file."""
    body = json.loads(RESULTS.read_text())
    if DEVICE.exists():
        body["tables"].update(json.loads(DEVICE.read_text())["tables"])
    both = RESULTS.with_name("kernel_both.json")
    both.write_text(json.dumps(body))
    return both


def counts(text: str) -> list[int]:
    """Numbers of threads, with commas between them."""
    return [int(word) for word in text.split(",")]


def threads(given: list[int] | None, serial: bool, repeats: int, quick: bool) -> None:
    """The same fit with several numbers of threads, measured, or (`serial`) estimated from one."""
    from benchmarks.kernel_threads import measure_serial, measure_threads

    if serial:
        numbers = given or [1, 2, 4, 8, 16]
        columns = ["case", "alone", "urgent tasks", "background", "limit by Amdahl"]
        columns += [f"estimate, {n}" for n in numbers] + [f"times faster, {numbers[-1]}"]
        table = Table("Seconds of one thread, and estimates for more", columns)
        measure_serial(table, numbers, quick)
    else:
        columns = ["case", "threads", "train", "predict", "times faster, training"]
        table = Table("Threads", [*columns, "times faster, predicting", "share of GEMM"])
        measure_threads(table, given or [1], repeats, quick)
    write_json(
        RESULTS.with_name("kernel_serial.json" if serial else "kernel_threads.json"), [table]
    )


def main() -> None:
    """Measure, write the results, and the page if asked."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small data, to try the script")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--report", type=Path, help="write this page from the results")
    parser.add_argument("--only-report", action="store_true", help="do not measure")
    parser.add_argument("--threads", type=counts, help="only MNIST with 1,2,4,... threads")
    parser.add_argument("--serial", action="store_true", help="only where one thread's time goes")
    options = parser.parse_args()
    if options.threads or options.serial:
        threads(options.threads, options.serial, options.repeats, options.quick)
        return
    if not options.only_report:
        columns = ["case", "classifier", "train", "predict", "test error", "support"]
        columns += ["times faster, training", "times faster, predicting", "share of GEMM"]
        tables = [Table("Beside support vector machines", columns)]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            svm_cases(tables[0], options.repeats, options.quick)
            names = ["case", "ours", "textbook", "times faster", "mistakes, ours"]
            tables.append(Table("Beside the textbook loop", [*names, "mistakes, textbook"]))
            against_textbook(tables[1], options.repeats, options.quick)
        sizes = ["case", "X, MB", "beyond X, MB", "support", "support vectors, MB"]
        tables.append(Table("Memory", [*sizes, "Gram matrix, MB"]))
        memory(tables[2], 5_000 if options.quick else 50_000)
        write_json(RESULTS, tables)
    if options.report:
        write_report(_with_device(), options.report, INTRODUCTION)


if __name__ == "__main__":
    main()
