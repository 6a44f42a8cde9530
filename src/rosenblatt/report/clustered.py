"""A table that was learned from whose features are on the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from rosenblatt.cluster.opened import ClusteredSamples
from rosenblatt.contract.clustered import read_clustered
from rosenblatt.contract.parameters import count_threads
from rosenblatt.data.sources import labelled, only, stack
from rosenblatt.exact import margin_of
from rosenblatt.proofs import check
from rosenblatt.report.fits import EncodedTable
from rosenblatt.running.clock import Clock
from rosenblatt.running.notes import Notes
from rosenblatt.running.threads import Team
from rosenblatt.separation.function import noting, proved
from rosenblatt.streams.on_cluster import PartedTable, sent_in_turn
from rosenblatt.streams.writing import FeatureWriter

if TYPE_CHECKING:
    from rosenblatt.cluster.source import ClusterSource
    from rosenblatt.results import Certificate, Hyperplane
    from rosenblatt.running.checkpoints import Keeper


@dataclass(frozen=True, kw_only=True)
class ClusteredTraining(EncodedTable):
    """The same as an `EncodedTable`; what scans all rows is done where they are.

    For those who need the features themselves they are copied once, to a file here (`X`).
    """

    samples: ClusteredSamples
    parted: PartedTable
    X: Any = field(init=False, repr=False)

    def __getattr__(self, name: str) -> Any:
        if name != "X":
            raise AttributeError(name)
        assert self.cache is not None
        n, d = self.samples.shape
        with self.cache as cache:
            if not self.samples.is_sparse:
                cache.require(8 * n * d)
            writer = FeatureWriter(cache)
            for block in self.samples.brought():
                writer.add(block.X)
            object.__setattr__(self, "X", writer.finished())
        return self.X

    @property
    def source(self) -> Any:
        """The features and classes, as estimators take them."""
        return self.samples

    def parts_of_columns(self) -> Iterator[dict[str, Any]]:
        """The columns of the rows that have a class, part by part, sent for in turn."""
        known = None if self.known is None or self.known.all() else self.known
        return sent_in_turn(self.parted, list(self.columns), known)

    @cached_property
    def _there(self) -> ClusterSource:
        return read_clustered(self.samples, None, None, None, lambda classes, counts: None)[0]

    def found_by(self, classifier: Any) -> NDArray[np.bool_]:
        """The classes of which a classifier gets some row right."""
        answers = classifier.predict(self.samples).compute()
        chosen = np.searchsorted(self.classes, answers)
        found = np.zeros(len(self.classes), np.bool_)
        found[self.label[chosen == self.label]] = True
        return found

    def margin(self, plane: Hyperplane, positive: Any) -> float | None:
        """How far the closest sample is, None unless all are strictly on their sides."""
        signs = self.signs(positive)
        margin = margin_of(stack(self._there), signs, [*plane.w, plane.b]) if plane.w.any() else 0.0
        return margin if margin > 0 else None

    def is_proof(self, certificate: Any, positive: Any) -> bool:
        """Whether a certificate proves its verdict on a class against the rest."""
        return bool(check(certificate, labelled(self._there, self._number(positive))))

    def verdict_on(
        self,
        positive: Any,
        max_time: float | None,
        notes: Notes | None = None,
        rest: Any = None,
    ) -> Certificate:
        """Whether a hyperplane separates a class from the rest, or from one other class."""
        source: Any = self._there
        if rest is not None and len(self.classes) > 2:
            both = [self._number(positive), self._number(rest)]
            source = only(source, np.isin(self.label, both))
        with Team(count_threads(None)) as team:
            return proved(source, team, self._number(positive), Clock(max_time), notes=notes)

    @contextmanager
    def noting(self, keeper: Keeper) -> Iterator[Notes]:
        """The notes of questions about these data."""
        with Team(count_threads(None)) as team, noting(keeper, self._there, team) as notes:
            yield notes

    def _number(self, label: Any) -> int:
        return int(self.classes.tolist().index(label))
