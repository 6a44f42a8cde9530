"""``python -m rosenblatt.cli`` is the command, too."""

from rosenblatt.cli import main

main()
