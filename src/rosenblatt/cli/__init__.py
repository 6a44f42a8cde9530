"""The command ``rosenblatt``: one file per subcommand."""


def main() -> None:
    """Run the command with the arguments of this process."""
    from rosenblatt.cli.app import app

    app(prog_name="rosenblatt")
