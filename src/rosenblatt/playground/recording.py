"""A recorded run as one HTML file: the page, its modules and its style, with the answers inside.

The file needs no server and asks for nothing: its own Content-Security-Policy allows it nothing
but the one script and the one style it holds. The modules of the page are put one after the other,
each in a function of its own that returns what it exports. For that they keep to a few rules:
imports by name at the top, exports where they are declared, no import that goes round in a circle.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import re
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rosenblatt.playground.judging import judge
from rosenblatt.playground.reproducing import code
from rosenblatt.playground.runs import run
from rosenblatt.playground.samples import samples_of
from rosenblatt.playground.schemas import FromTable, JudgeAsked

if TYPE_CHECKING:
    from rosenblatt.playground.held_tables import Tables
    from rosenblatt.playground.samples import Samples
    from rosenblatt.playground.schemas import RecordingAsked

IMPORT = re.compile(r'^import\s+(?:\{([^}]*)\}\s+from\s+)?"\./([\w-]+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:function\*?|class|const|let) (\w+))", re.MULTILINE)
STYLE, SCRIPT = (
    '<link rel="stylesheet" href="style.css">',
    '<script type="module" src="js/main.js">',
)


def recording(asked: RecordingAsked, tables: Tables, seconds: float) -> str:
    """The HTML file of what was asked for."""
    samples = samples_of(asked.data, tables)
    chosen = asked.page.get("chosen", 0)
    first = asked.settings[chosen if chosen in range(len(asked.settings)) else 0]
    bias = getattr(first, "fit_intercept", True)
    held = tables.get(asked.data.table).described() if isinstance(asked.data, FromTable) else None
    answers = {
        "page": _state(asked, samples) | asked.page,
        "held": held and held.model_dump(),
        "code": [code(samples, one).model_dump() for one in asked.settings],
        "runs": [
            json.loads(run(samples, one, seconds=seconds).model_dump_json())
            for one in asked.settings
        ],
        "judgement": json.loads(
            judge(samples, JudgeAsked(data=asked.data, bias=bias), seconds).model_dump_json()
        ),
    }
    return bundled(answers, asked.title or "a recorded run")


def _state(asked: RecordingAsked, samples: Samples) -> dict[str, Any]:
    """What the page is to show, unless it says so itself."""
    names = [samples.named(k) for k in range(max(samples.classes) + 1)]
    lanes = [one.model_dump() for one in asked.settings]
    return {"data": asked.data.model_dump() | {"names": names}, "lanes": lanes, "chosen": 0}


def bundled(answers: dict[str, Any], title: str) -> str:
    """The page with everything that it would ask for."""
    try:
        data = json.dumps(answers, allow_nan=False).replace("<", "\\u003c")
    except (RecursionError, ValueError):
        msg = "page: this cannot be put into a file"
        raise ValueError(msg) from None
    script, style = _script(), page_text("style.css")
    policy = (
        f"default-src 'none'; img-src data: blob:; base-uri 'none'; form-action 'none'; "
        f"script-src '{_digest(script)}'; style-src '{_digest(style)}'"
    )
    head = f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n  '
    page = page_text("index.html")
    page = page.replace("<title>rosenblatt playground</title>", _title(title), 1)
    page = page.replace(STYLE, f"{head}<style>{style}</style>", 1)
    page = page.replace(f"{SCRIPT}</script>", f'<script type="module">{script}</script>', 1)
    end = f'<script type="application/json" id="recording">{data}</script>\n</body>'
    return page.replace("</body>", end, 1)


def with_held(page: str, fingerprint: str | None) -> str:
    """The page, told which table the server holds."""
    if fingerprint is None:
        return page
    return page.replace("</head>", f'  <meta name="held" content="{fingerprint}">\n</head>', 1)


def _title(title: str) -> str:
    return f"<title>{html.escape(title)} · rosenblatt playground</title>"


def _digest(text: str) -> str:
    """What a policy calls a script or style by."""
    digest = hashlib.sha256(text.encode()).digest()
    return f"sha256-{base64.b64encode(digest).decode()}"


def page_text(name: str) -> str:
    """A file of the page."""
    return (files("rosenblatt.playground") / "static" / name).read_text(encoding="utf-8")


def _script() -> str:
    """All modules of the page in one, those first that others need."""
    done: dict[str, str] = {}
    _add_module("main.js", done, [])
    script = "const modules = {};\n" + "\n".join(done.values())
    if "</script" in script:
        msg = "a module of the page holds the end of a script"
        raise AssertionError(msg)
    return script


def _add_module(name: str, done: dict[str, str], above: list[str]) -> None:
    """Add a module after those that it imports."""
    if name in done:
        return
    if name in above:
        msg = f"modules import each other in a circle: {' -> '.join([*above, name])}"
        raise AssertionError(msg)
    text = page_text(f"js/{name}")
    for _, other in IMPORT.findall(text):
        _add_module(other, done, [*above, name])
    exported = ", ".join(EXPORT.findall(text))
    body = EXPORT.sub("", IMPORT.sub(_fetched, text))
    if re.search(r"^(import|export)\b", body, re.MULTILINE):
        msg = f"{name} imports or exports in another way than the others"
        raise AssertionError(msg)
    done[name] = f'modules["{name}"] = (() => {{\n{body}\nreturn {{ {exported} }};\n}})();\n'


def _fetched(found: re.Match[str]) -> str:
    """An import by name, as what the module's function has returned."""
    names, module = found.groups()
    wanted = re.sub(r"(\w+)\s+as\s+(\w+)", r"\1: \2", " ".join((names or "").split()))
    return f'const {{ {wanted} }} = modules["{module}"];\n'
