"""The parts of dates as features, against Python's own calendar."""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

import rosenblatt as rb
from commands import call, fitted
from rosenblatt import TableEncoder

rng = np.random.default_rng(0)
MOMENTS = [
    datetime(2019, 11, 3, 22, 15) + timedelta(minutes=int(m))
    for m in rng.integers(0, 2_000_000, 300)
]
DAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def encoded(moments, **parameters):
    encoder = TableEncoder(standardize=False, **parameters)
    X = encoder.fit_transform(
        {"when": np.array(moments, dtype="datetime64[us]"), "x": np.arange(len(moments)) % 7}
    )
    return encoder, dict(
        zip(encoder.get_feature_names_out().tolist(), np.asarray(X).T, strict=True)
    )


def test_hour_weekday_and_month():
    _, found = encoded(MOMENTS)
    for k, moment in enumerate(MOMENTS):
        assert found["when:hour"][k] == pytest.approx(moment.hour + moment.minute / 60, abs=1e-6)
        day, month = DAYS[moment.weekday()], MONTHS[moment.month - 1]
        assert [name for name in DAYS if found[f"when:weekday={name}"][k]] == [day]
        assert [name for name in MONTHS if found[f"when:month={name}"][k]] == [month]


def test_before_1970_and_missing():
    old = [moment - timedelta(days=365 * 80) for moment in MOMENTS]
    encoder, found = encoded([*old, None])
    day = [DAYS[moment.weekday()] for moment in old]
    assert [found[f"when:weekday={name}"][k] for k, name in enumerate(day)] == [1.0] * len(old)
    assert found["when:weekday=(missing)"].tolist() == [0.0] * len(old) + [1.0]
    hours = [moment.hour + moment.minute / 60 for moment in old]
    assert found["when:hour"][-1] == pytest.approx(np.mean(hours))
    assert encoder.spans_["when"] == range(2 + 8 + 13)


@pytest.mark.parametrize(
    ("moments", "names"),
    [
        ([datetime(2024, 5, 1 + k) for k in range(10)], ["when"]),
        ([datetime(2024, 5, 1 + k, 9, 30) for k in range(10)], ["when"]),
        ([datetime(2024, 5, 1, k) for k in range(10)], ["when", "when:hour"]),
        ([datetime(2024, 5, 1 + 7 * k) for k in range(4)], ["when", "when:weekday=Wed"]),
    ],
)
def test_only_parts_that_come_round_again(moments, names):
    assert list(encoded(moments)[1])[:-1] == names


def test_standardised_and_as_they_stand():
    table = {"when": np.array(MOMENTS, dtype="datetime64[us]")}
    encoder = TableEncoder().fit(table)
    hours = encoder.transform(table)[:, 1]
    assert (hours.mean(), hours.std()) == pytest.approx((0, 1))
    plain = TableEncoder(standardize=False).fit_transform(table)
    np.testing.assert_array_equal(encoder.unscaled().transform(table), plain)


def test_a_model_learns_the_weekday(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    closed = ["closed" if moment.weekday() >= 5 else "open" for moment in MOMENTS]
    rows = [f"{when:%Y-%m-%d %H:%M},{shop}" for when, shop in zip(MOMENTS, closed, strict=True)]
    Path("shop.csv").write_text("\n".join(["when,shop", *rows, ""]))
    found = fitted("shop.csv", "-o", "m.skops")
    assert found["training_errors"] == 0
    assert "when: days since 1970, with hour, weekday, month" in found["notes"]
    answers = call("predict", "m.skops", "shop.csv").stdout.splitlines()[1:]
    assert [line.split(",")[0] for line in answers] == closed
    call("check", "shop.csv", "-q", "-o", "c.json")
    call("check", "shop.csv", "--verify", "c.json")


@pytest.mark.parametrize(
    "change",
    [
        lambda parts: parts.append(dict(parts[0])),
        lambda parts: parts[0].update(name="when:year"),
        lambda parts: parts[0].update(kind="text"),
        lambda parts: parts[1].update(values=[]),
    ],
)
def test_changed_parts_are_refused(change):
    encoder, _ = encoded(MOMENTS)
    state = encoder.__getstate__()
    parts = [dict(part) for part in encoder.columns_[0]["parts"]]
    change(parts)
    state["columns_"] = [encoder.columns_[0] | {"parts": parts}, encoder.columns_[1]]
    with pytest.raises(ValueError, match="do not fit together"):
        rb.TableEncoder().__setstate__(state)
