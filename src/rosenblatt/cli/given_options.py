"""The options that a command was given, as somebody would type them for another."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typer


def given_options(ctx: typer.Context, target: str, names: Collection[str]) -> list[str]:
    """The files of a command and those of its options that have these names, the target named.

    What was not given, or is as it is by default, is left out; passwords are, too.
    """
    from rosenblatt.tables.formats.postgres import without_password

    found = [without_password(str(file)) for file in ctx.params["files"] or ()]
    asked = ctx.params | {"target": target}
    for option in ctx.command.params:
        value, name = asked.get(str(option.name)), str(option.name)
        given = value is not None and (value != option.default or name == "target")
        if name == "files" or name not in names or not given:
            continue
        flag = max(option.opts, key=len)
        if isinstance(value, bool):
            found.append(flag if value else max(option.secondary_opts, key=len))
        else:
            each = value if isinstance(value, list | tuple) else [value]
            found += [part for one in each for part in (flag, without_password(str(one)))]
    return found
