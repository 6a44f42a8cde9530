"""Questions to the playground and their answers."""

import asyncio
import json
import threading

import numpy as np
import pytest

import rosenblatt as rb
from playground_visitor import EIGHT, NOISY, Visitor, asynchronous, new_app
from rosenblatt.playground import schemas
from rosenblatt.playground.working import GoneError, Workers

XOR = {"points": [[0, 0], [0, 1], [1, 0], [1, 1]], "labels": [0, 1, 1, 0]}
PERCEPTRON = {"algorithm": "perceptron"}


def ok(answer):
    assert answer.status_code == 200, answer.text
    return answer.json()


def arrays(data):
    return np.array(data["points"], dtype=float), np.array(data["labels"])


# Verdicts -------------------------------------------------------------------------------------


def test_a_separable_verdict_is_the_librarys(client):
    told = ok(client.post("/api/judge", json={"data": EIGHT}))
    (verdict,), (X, y) = told["verdicts"], arrays(EIGHT)
    found, best, bound = (
        rb.separability(X, y),
        rb.MaxMarginClassifier().fit(X, y),
        rb.mistake_bound(X, y),
    )
    assert verdict["verdict"] == "separable"
    assert verdict["hyperplane"] == {"w": found.hyperplane.w.tolist(), "b": found.hyperplane.b}
    assert verdict["margin"] == found.margin
    assert verdict["widest"]["w"] == best.coef_[0].tolist()
    assert verdict["widest_margin"] == pytest.approx(2**0.5, rel=1e-6)
    assert (verdict["bound"]["R"], verdict["bound"]["gamma"]) == (bound.R, bound.gamma)
    assert verdict["bound"]["bound"] == bound.bound
    assert sorted(told["hulls"]["1"]) == [[1, 1], [1, 3], [2, 1], [2, 2]]
    assert told["overlap"] == []


def test_an_inseparable_verdict_has_its_proof(client):
    told = ok(client.post("/api/judge", json={"data": XOR}))
    (verdict,) = told["verdicts"]
    assert verdict["verdict"] == "inseparable"
    assert verdict["bound"] is None
    assert verdict["proof"] == {"samples": [0, 1, 2, 3], "weights": [0.5] * 4, "point": [0.5, 0.5]}


def test_a_quasi_separable_verdict_names_the_samples_on_the_line(client):
    data = ok(client.post("/api/generate", json={"kind": "quasi-separable", "n": 12}))
    given = {"points": data["points"], "labels": data["labels"]}
    (verdict,) = ok(client.post("/api/judge", json={"data": given}))["verdicts"]
    assert verdict["verdict"] == "quasi-separable"
    assert [data["points"][i][0] for i in verdict["on"]] == [0, 0, 0]


def test_verdicts_without_a_bias_and_in_feature_space(client):
    line = {"points": [[1, 1], [2, 2]], "labels": [0, 1]}
    (verdict,) = ok(client.post("/api/judge", json={"data": line, "bias": False}))["verdicts"]
    assert verdict["verdict"] == "inseparable"
    assert "origin" in verdict["sentence"]
    (verdict,) = ok(client.post("/api/judge", json={"data": EIGHT, "bias": False}))["verdicts"]
    X, y = arrays(EIGHT)
    assert verdict["hyperplane"]["b"] == 0
    assert (np.where(y, 1, -1) * (X @ verdict["hyperplane"]["w"]) > 0).all()
    squares = {"kernel": "poly", "degree": 2, "gamma": 1}
    told = ok(client.post("/api/judge", json={"data": XOR, "kernel": squares}))
    assert told["verdicts"][0]["verdict"] == "separable"
    assert told["kernel"] == "K(x, y) = (x·y + 1)^2"


def test_more_than_two_classes_have_a_verdict_each_and_one_together(client):
    line = {"points": [[-2, 0], [0, 0], [2, 0]], "labels": [0, 1, 2]}
    told = ok(client.post("/api/judge", json={"data": line}))
    assert [v["verdict"] for v in told["verdicts"]] == ["separable", "inseparable", "separable"]
    assert [v["negative"] for v in told["verdicts"]] == [None] * 3
    assert told["joint"] == "separable"
    assert told["joint_sentence"].startswith("with a w and b for each class, every sample")


# Runs -----------------------------------------------------------------------------------------


def test_a_run_of_updates_has_lemmas_and_bound(client):
    told = ok(
        client.post("/api/run", json={"data": NOISY, "settings": {**PERCEPTRON, "max_epochs": 9}})
    )
    (course,), (X, y) = told["courses"], arrays(NOISY)
    model = rb.Perceptron(max_epochs=9, random_state=0, record=True)
    with pytest.warns(match="stopped after 9 epochs"):
        model.fit(X, y)
    report = model.bound_report(X, y)
    assert course["bound"]["bound"] == report.bound.bound
    assert course["lemmas"]["progress"] == report.progress.tolist()
    assert course["lemmas"]["progress_least"] == report.progress_bound.tolist()
    assert course["lemmas"]["length_most"] == np.sqrt(report.length2_bound).tolist()
    assert course["stop"] == {"reason": "EPOCH_LIMIT", "sentence": model.stop_reason_.value}
    assert course["epochs"]["mistakes"] == model.trace_.mistakes.tolist()


def test_a_cycle_is_told(client):
    data = ok(client.post("/api/generate", json={"kind": "cycle"}))
    given = {"points": data["points"], "labels": data["labels"]}
    (course,) = ok(client.post("/api/run", json={"data": given, "settings": PERCEPTRON}))["courses"]
    assert course["cycle"] == {"entry": 0, "period": 3}


def test_the_openapi_description_knows_every_question(client):
    paths = ok(client.get("/api/openapi.json"))["paths"]
    known = {"run", "judge", "generate", "table", "held/{table}", "code", "recording"}
    assert {path.removeprefix("/api/") for path in paths} == known


def test_no_more_epochs_are_run_than_can_be_told(client, monkeypatch):
    monkeypatch.setattr("rosenblatt.playground.estimators.MOST_VISITS", 24 * 12)
    settings = {**PERCEPTRON, "max_epochs": 1000}
    told = ok(client.post("/api/run", json={"data": NOISY, "settings": settings}))
    assert told["courses"][0]["epochs_in_all"] == 12
    assert "Of 24 points 12 epochs at most" in told["notes"][-1]
    code = ok(client.post("/api/code", json={"data": NOISY, "settings": settings}))
    assert "max_epochs=12" in code["python"]


# Generators -----------------------------------------------------------------------------------

VERDICTS = {
    "separable": "separable",
    "eight-points": "separable",
    "dunkers": "separable",
    "xor": "inseparable",
    "rings": "inseparable",
    "moons": "inseparable",
    "cycle": "inseparable",
    "quasi-separable": "quasi-separable",
}


@pytest.mark.parametrize(("kind", "verdict"), VERDICTS.items())
def test_generated_data_are_what_they_are_called(client, kind, verdict):
    asked = {"kind": kind, "n": 21, "margin": 0.2, "seed": 3}
    data = ok(client.post("/api/generate", json=asked))
    assert data == ok(client.post("/api/generate", json=asked))
    X, y = arrays(data)
    found = rb.separability(X, y).verdict
    assert found.name.lower().replace("_", "-") == verdict
    assert len(data["names"]) == 2
    if kind == "separable":
        assert rb.MaxMarginClassifier().fit(X, y).margin_ == pytest.approx(0.2)


def test_noise_flips_labels_and_blobs_have_classes(client):
    plain, noisy = (
        ok(client.post("/api/generate", json={"kind": "separable", "n": 50, "noise": noise}))
        for noise in (0, 0.2)
    )
    assert plain["points"] == noisy["points"]
    assert sum(a != b for a, b in zip(plain["labels"], noisy["labels"], strict=True)) == 10
    blobs = ok(
        client.post("/api/generate", json={"kind": "blobs", "classes": 5, "n": 30, "noise": 0.1})
    )
    assert sorted(set(blobs["labels"])) == [0, 1, 2, 3, 4]


# Refusals -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("question", "body", "words"),
    [
        ("run", {"data": {"points": [], "labels": []}, "settings": PERCEPTRON}, "two classes"),
        ("run", {"data": {"points": [[0, 0]], "labels": [1]}, "settings": PERCEPTRON}, "class 1"),
        ("run", {"data": {"points": [[0, 0]], "labels": []}, "settings": PERCEPTRON}, "1 points"),
        ("run", {"data": EIGHT, "settings": {"algorithm": "magic"}}, "algorithm"),
        ("run", {"data": EIGHT, "settings": {**PERCEPTRON, "eta0": -1}}, "eta0"),
        ("run", {"data": EIGHT, "settings": {**PERCEPTRON, "max_epochs": 10**9}}, "max_epochs"),
        ("run", {"data": EIGHT, "settings": {**PERCEPTRON, "update": "minibatch"}}, "batch_size"),
        ("run", {"data": EIGHT, "settings": {**PERCEPTRON, "class_weight": [1]}}, "class_weight"),
        ("run", {"data": EIGHT, "settings": {**PERCEPTRON, "init": [1, 2, 3, 4, 5]}}, "init"),
        ("run", {"data": EIGHT, "settings": {"algorithm": "adaline", "eta0": 1e6}}, "too large"),
        (
            "run",
            {"data": {"table": "0" * 16, "columns": "along-w"}, "settings": PERCEPTRON},
            "held",
        ),
        ("run", {"data": EIGHT}, "settings"),
        ("judge", {"data": EIGHT, "more": 1}, "more"),
        ("table", {"text": ""}, "table"),
        ("table", {"text": "a,b\n1,2"}, "one class"),
        ("generate", {"kind": "separable", "margin": 1}, "margin"),
        ("recording", {"data": EIGHT, "settings": []}, "settings"),
    ],
)
def test_what_cannot_be_answered_gets_one_sentence(client, question, body, words):
    answer = client.post(f"/api/{question}", json=body)
    assert answer.status_code in (404, 422)
    detail = answer.json()["detail"]
    assert words in detail
    assert "\n" not in detail
    assert "Traceback" not in detail


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[" * 100_000,
        b'{"data": NaN}',
        b"\xff\xfe",
        b'{"\\ud800": 1}',
        b'{"data": {"points": [[1e999, 0]], "labels": [0]}, "settings": {"algorithm": "pocket"}}',
        b"1" * 6000,
        b'{"text": "\\ud800,b\\n1,2"}',
    ],
)
def test_broken_bodies_are_refused(client, body):
    for question in ("run", "table", "recording"):
        answer = client.post(
            f"/api/{question}", content=body, headers={"content-type": "application/json"}
        )
        assert answer.status_code in (400, 422)
        assert answer.json()["detail"]


# Tables ---------------------------------------------------------------------------------------


def test_a_pasted_table_of_two_numbers_becomes_points(client):
    told = ok(client.post("/api/table", json={"text": "x;y;kind\n1,5;2;a\n2;3;b\n"}))
    assert told["held"] is None
    assert told["points"]["points"] == [[1.5, 2], [2, 3]]
    assert told["points"]["labels"] == [0, 1]
    assert (told["points"]["names"], told["points"]["features"]) == (["a", "b"], ["x", "y"])


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("x,y,c\n1,2,a\n2,3\n4,5,b,6\n", "has 3 columns: correct them"),
        ("only a header", "give a file with at least one row"),
        ("x,c\n1,a\n2,a\n", "choose another column"),
    ],
)
def test_a_table_is_refused_without_naming_options(client, text, why):
    answer = client.post("/api/table", json={"text": text})
    assert answer.status_code == 422
    assert answer.json()["detail"].endswith(why)


def test_what_does_not_fit_is_named_as_it_was_asked(client):
    asked = {"data": {"points": [[0, "x"]], "labels": [1]}, "settings": PERCEPTRON}
    assert client.post("/api/run", json=asked).json()["detail"].startswith("data.points.0.1: ")


def test_other_tables_are_held(client):
    cells = "<script>alert(1)</script>", "=cmd|' /C calc'!A0"
    rows = [f"{i},{i % 3},{i * i % 7},{cells[i % 2]}" for i in range(12)]
    held = ok(client.post("/api/table", json={"text": "a,b,c,d\n" + "\n".join(rows)}))["held"]
    assert held["names"] == sorted(cells)
    assert held["counts"] == [6, 6]
    assert ok(client.get(f"/api/held/{held['table']}")) == held
    data = {"table": held["table"], "columns": held["columns"]}
    run = ok(client.post("/api/run", json={"data": data, "settings": PERCEPTRON}))
    assert run["view"]["names"] == held["columns"]
    assert run["view"]["total"] == 12
    answer = client.post("/api/recording", json={"data": data, "settings": [PERCEPTRON]})
    assert "<script>alert" not in answer.text


def test_only_the_last_pasted_tables_are_held(client):
    texts = [f"a,b,c,d\n1,2,{i},x\n3,4,5,y\n6,1,2,x" for i in range(10)]
    held = [ok(client.post("/api/table", json={"text": text}))["held"]["table"] for text in texts]
    assert client.get(f"/api/held/{held[-1]}").status_code == 200
    answer = client.get(f"/api/held/{held[0]}")
    assert (answer.status_code, "open it again" in answer.json()["detail"]) == (404, True)


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """2 500 rows of three features, one of them words."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((2500, 2))
    kind = rng.choice(["red", "blue"], 2500)
    y = np.where(X[:, 0] + X[:, 1] + (kind == "red") > 0.3, "yes", "no")
    lines = [f"{a!r},{b!r},{k},{c}" for (a, b), k, c in zip(X.tolist(), kind, y, strict=True)]
    path = tmp_path_factory.mktemp("tables") / "big.csv"
    path.write_text("\n".join(["a,b,kind,class", *lines]))
    return str(path)


def test_a_file_is_used_whole_and_drawn_in_part(big):
    client = Visitor(new_app(big))
    (fingerprint,) = [line for line in client.get("/").text.splitlines() if 'name="held"' in line]
    fingerprint = fingerprint.split('"')[3]
    held = ok(client.get(f"/api/held/{fingerprint}"))
    assert (held["rows"], held["features"]) == (2500, ["a", "b", "kind=blue", "kind=red"])
    assert "2000 of 2500 rows" in held["notes"][0]
    data = {"table": fingerprint, "columns": "along-w"}
    settings = {"algorithm": "average", "max_epochs": 5}
    told = ok(client.post("/api/run", json={"data": data, "settings": settings}))
    with rb.io.read_table(big) as table:
        columns = {name: table[name] for name in ("a", "b", "kind")}
        y = table["class"]
    X = rb.TableEncoder().fit_transform(columns)
    with pytest.warns(match="stopped"):
        model = rb.Perceptron(keep="average", max_epochs=5, random_state=0).fit(X, y)
    assert told["errors"] == model.n_errors_
    view, kept = told["view"], told["courses"][0]["kept"]
    assert len(view["points"]) == 2000
    points = np.array(view["points"])
    # Seen along w, the line is upright, and values are those of all features.
    assert kept["w"][1] == pytest.approx(0, abs=1e-9)
    values = points @ kept["w"] + kept["b"]
    np.testing.assert_allclose(
        values, model.decision_function(X)[view["rows"]], rtol=1e-9, atol=1e-9
    )
    answer = client.post("/api/run", json={"data": data, "settings": {"algorithm": "kernel"}})
    assert "choose two features" in answer.json()["detail"]
    soft = {"data": data, "settings": {"algorithm": "soft-margin", "tol": 0.1}}
    (course,) = ok(client.post("/api/run", json=soft))["courses"]
    assert len(course["margin"]["slack"]) == 2000
    assert set(course["margin"]["wrong"]) <= set(view["rows"])
    two = {"table": fingerprint, "columns": ["b", "a"]}
    curved = {"data": two, "settings": {"algorithm": "kernel", "max_epochs": 1}}
    told = ok(client.post("/api/run", json=curved))
    assert set(told["courses"][0]["sample"][1:]) <= set(told["view"]["rows"])
    told = ok(client.post("/api/run", json={"data": two, "settings": settings}))
    with pytest.warns(match="stopped"):
        model = rb.Perceptron(keep="average", max_epochs=5, random_state=0).fit(X[:, [1, 0]], y)
    assert told["courses"][0]["kept"]["w"] == model.coef_[0].tolist()


# Recordings -----------------------------------------------------------------------------------


def test_a_recording_holds_everything_and_asks_for_nothing(client):
    settings = [PERCEPTRON, {"algorithm": "kernel"}]
    state = {"chosen": 1, "note": "</script><script>alert(1)</script>"}
    asked = {"data": EIGHT, "settings": settings, "title": "<b>&", "page": state}
    answer = client.post("/api/recording", json=asked)
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    text = answer.text
    assert "&lt;b&gt;&amp;" in text
    assert "alert(1)</script>" not in text
    assert ' src="' not in text
    assert 'rel="stylesheet"' not in text
    assert not [line for line in text.splitlines() if line.startswith(("import ", "export "))]
    found = text.split('id="recording">')[-1].split("</script>")[0]
    recorded = json.loads(found)
    assert recorded["page"]["data"]["points"] == EIGHT["points"]
    assert recorded["page"] | state == recorded["page"]
    assert recorded["runs"] == [
        ok(client.post("/api/run", json={"data": EIGHT, "settings": one})) for one in settings
    ]
    assert recorded["judgement"]["verdicts"][0]["verdict"] == "separable"
    assert [set(code) for code in recorded["code"]] == [{"python", "command", "note"}] * 2


# Work -----------------------------------------------------------------------------------------


class Leaving:
    """A request whose page is closed after a while."""

    def __init__(self, gone):
        self.gone = gone

    async def receive(self):
        while not self.gone.is_set():
            await asyncio.sleep(0.01)
        return {"type": "http.disconnect"}


def test_work_ends_when_its_page_is_gone():
    begun, seen = threading.Event(), []
    X, y = arrays(NOISY)

    def work():
        def note(epoch):
            begun.set()

        model = rb.Perceptron(max_epochs=10**9, order="shuffled", callback=note)
        seen.append(model.fit(X, y).stop_reason_)

    async def leave():
        workers = Workers(1)
        asked = asyncio.ensure_future(workers.do(Leaving(begun), work))
        with pytest.raises(GoneError):
            await asked
        while workers.busy:
            await asyncio.sleep(0.01)
        workers.stop()

    asyncio.run(leave())
    assert seen == [rb.StopReason.INTERRUPTED]


def test_two_hundred_questions_at_once_are_all_answered(playground_app):
    async def ask_all():
        async with asynchronous(playground_app) as client:
            body = {"data": NOISY, "settings": {"algorithm": "pocket", "max_epochs": 3}}
            many = [client.post("/api/run", json=body) for _ in range(200)]
            quick = client.get("/style.css")
            return await asyncio.gather(*many, quick)

    answers = asyncio.run(ask_all())
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.content for answer in answers[:-1]}) == 1


def test_too_much_work_is_put_off(monkeypatch):
    monkeypatch.setattr("rosenblatt.playground.working.MOST_WAITING", 0)
    answer = Visitor(new_app()).post("/api/judge", json={"data": EIGHT})
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "1")


def test_settings_know_every_parameter_of_the_estimators():
    beside = {
        "record",
        "progress",
        "callback",
        "warm_start",
        "n_jobs",
        "max_time",
        "on_inseparable",
        "checkpoint",
        "shards",  # which the page does not show
    }
    for settings, estimator in (
        (schemas.PerceptronSettings, rb.Perceptron),
        (schemas.AdalineSettings, rb.Adaline),
        (schemas.KernelSettings, rb.KernelPerceptron),
        (schemas.MaxMarginSettings, rb.MaxMarginClassifier),
        (schemas.SoftMarginSettings, rb.SoftMarginClassifier),
    ):
        known = set(settings.model_fields) - {"algorithm"}
        assert known == set(estimator().get_params()) - beside
