"""The kernel perceptron on a graphics card: ``python -m benchmarks.kernel_device``.

Needs PyTorch with CUDA, and ``ROSENBLATT_DATA`` for the digits.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from benchmarks.kernel import columns_of
from benchmarks.kernel_data import digits, waves
from benchmarks.measure import Table, write_json

RESULTS = Path(__file__).parent / "results" / "kernel_device.json"


def peak(torch: Any, dtype: Any, n: int = 8192) -> float:
    """Floating-point operations per second of a large matrix product."""
    A = torch.randn(n, n, device="cuda", dtype=dtype)
    best = 0.0
    for _ in range(5):
        torch.cuda.synchronize()
        began = time.perf_counter()
        A @ A
        torch.cuda.synchronize()
        best = max(best, 2.0 * n**3 / (time.perf_counter() - began))
    return best


def timed(torch: Any, task: Any) -> tuple[float, Any]:
    """Seconds of a task, the device's work included."""
    torch.cuda.synchronize()
    began = time.perf_counter()
    result = task()
    torch.cuda.synchronize()
    return time.perf_counter() - began, result


def model_of_digits() -> Any:
    """Degree 4, the average of three epochs."""
    import rosenblatt as rb

    return rb.KernelPerceptron(kernel="poly", degree=4, gamma=1, keep="average", max_epochs=3)


def ten_digits(torch: Any, table: Table, repeats: int) -> None:
    """MNIST, ten classes, degree 4, average of three epochs."""
    train, test = digits("train"), digits("t10k")
    if train is None or test is None:
        print("no MNIST: set ROSENBLATT_DATA")
        return
    for dtype in (torch.float32, torch.float64):
        X, T = (torch.as_tensor(data[0], device="cuda", dtype=dtype) for data in (train, test))
        rate = peak(torch, dtype)
        columns = columns_of(model_of_digits(), X, train[1])
        for _ in range(repeats):
            model = model_of_digits()
            seconds, _ = timed(torch, lambda model=model, X=X: fit_quietly(model, X, train[1]))
            again, chosen = timed(torch, lambda model=model, T=T: model.predict(T))
            work = 2.0 * len(train[0]) * columns * 784
            table.add(
                case=f"MNIST, 3 epochs, {str(dtype).rpartition('.')[2]}",
                seconds=seconds,
                predict=again,
                mistakes=int(model.n_mistakes_.sum()),
                support=len(model.support_),
                errors=f"{(chosen.cpu().numpy() != test[1]).mean():.2%}",
                **{"GEMM TFLOP/s": rate / 1e12, "share of it": work / seconds / rate},
            )


def fit_quietly(model: Any, X: Any, y: Any) -> Any:
    """Fit without the warning that errors are left."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, y)


def stream(torch: Any, table: Table, n: int, budget: int) -> None:
    """Many samples, RBF, a budget of support vectors, one epoch."""
    import rosenblatt as rb

    X, y = waves(n, 128)
    there = torch.as_tensor(X, device="cuda")
    model = rb.KernelPerceptron(gamma=0.02, budget=budget, max_epochs=1)
    seconds, _ = timed(torch, lambda: fit_quietly(model, there, y))
    again, chosen = timed(torch, lambda: model.predict(there[:100_000]))
    rate = peak(torch, torch.float32)
    pairs = 2.0 * n * len(model.support_)  # to train, and to count the errors
    table.add(
        case=f"{n} x 128, RBF, budget {budget}, float32",
        seconds=seconds,
        predict=again,
        mistakes=int(model.n_mistakes_),
        support=len(model.support_),
        errors=f"{(chosen.cpu().numpy() != y[:100_000]).mean():.2%}",
        **{"GEMM TFLOP/s": rate / 1e12, "share of it": 2.0 * 128 * pairs / seconds / rate},
    )


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--budget", type=int, default=20_000)
    options = parser.parse_args()
    import torch

    columns = ["case", "seconds", "predict", "mistakes", "support", "errors"]
    table = Table(
        f"On a device: {torch.cuda.get_device_name()}", [*columns, "GEMM TFLOP/s", "share of it"]
    )
    ten_digits(torch, table, options.repeats)
    stream(torch, table, options.rows, options.budget)
    write_json(options.out, [table])


if __name__ == "__main__":
    main()
