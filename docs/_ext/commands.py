"""The commands of the terminal, their arguments and options: from what ``--help`` says."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from docutils import nodes
from docutils.parsers.rst import Directive
from typer.main import get_command

if TYPE_CHECKING:
    from sphinx.application import Sphinx

STYLE = re.compile(r"\[/?(?:dim|bold|italic)\]")  # of the terminal
CODE = re.compile(r"(rosenblatt \w+ .*$|(?<!\w)--?[a-zA-Z][\w-]*|\brb(?:\.\w+)+|'[^' ]+')")


def words(text: str) -> list[nodes.Node]:
    """A text, with what is typed set as code."""
    parts = CODE.split(STYLE.sub("", text))
    return [nodes.literal("", p) if k % 2 else nodes.Text(p) for k, p in enumerate(parts) if p]


def term(parameter: Any) -> nodes.term:
    """How an argument or an option is written."""
    names = [*parameter.opts, *parameter.secondary_opts]
    if parameter.param_type_name == "argument":
        names = [(parameter.metavar or parameter.name).upper()]
    made = nodes.term("", "", nodes.literal("", ", ".join(names)))
    default = parameter.default
    if default not in (None, False, (), []) and isinstance(default, str | int | float | bool):
        made += nodes.inline("", f"default {default}", classes=["classifier"])
    return made


def section(name: str, command: Any) -> nodes.section:
    """What a command does, and what may be given to it."""
    made = nodes.section(ids=[f"rosenblatt-{name}"], names=[f"rosenblatt {name}"])
    made += nodes.title("", "", nodes.Text(name.capitalize()))
    for paragraph in (command.help or "").split("\n\n"):
        made += nodes.paragraph("", "", *words(" ".join(paragraph.split())))
    listed = nodes.definition_list(classes=["options"])
    for parameter in command.params:
        if not getattr(parameter, "hidden", False) and "--help" not in parameter.opts:
            said = nodes.paragraph("", "", *words(getattr(parameter, "help", None) or ""))
            listed += nodes.definition_list_item("", term(parameter), nodes.definition("", said))
    made += listed
    return made


class Commands(Directive):
    """All of them, in the order of ``rosenblatt --help``."""

    def run(self) -> list[nodes.Node]:
        """A section for each."""
        from rosenblatt.cli.app import app

        return [section(name, command) for name, command in get_command(app).commands.items()]


def setup(app: Sphinx) -> dict[str, bool]:
    """Offer the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
