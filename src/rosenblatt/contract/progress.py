"""A progress bar on standard error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import TracebackType

    from rich.progress import Progress


class ProgressBar:
    """Epochs done, mistakes in the last one, time; nothing at all unless `shown`."""

    def __init__(self, title: str, epochs: int, shown: bool) -> None:
        self.title, self.epochs, self.shown = title, epochs, shown
        self._progress: Progress | None = None

    def __enter__(self) -> ProgressBar:
        if self.shown:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeElapsedColumn

            self._progress = Progress(
                "{task.description}",
                BarColumn(),
                MofNCompleteColumn(),
                "epochs, {task.fields[mistakes]} mistakes in the last,",
                TimeElapsedColumn(),
                console=Console(stderr=True),
            )
            self._progress.start()
            self._task = self._progress.add_task(self.title, total=self.epochs, mistakes="no")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._progress is not None:
            self._progress.stop()

    def show(self, epoch: int, mistakes: int) -> None:
        """Move to the given epoch."""
        if self._progress is not None:
            self._progress.update(self._task, completed=epoch, mistakes=mistakes)
