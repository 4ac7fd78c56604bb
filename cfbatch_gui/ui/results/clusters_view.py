"""Clusters: groups of similar texts, with the texts nearest to the centre of each."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QSpinBox

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import EmbeddedText
from cfbatch_gui.core.results.groups import MOST_CLUSTERS, Cluster, Clusters, find_clusters, usual_number
from cfbatch_gui.core.results.nearest import Neighbour
from cfbatch_gui.ui import display
from cfbatch_gui.ui.display import tr
from cfbatch_gui.ui.memory import Memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.vector_page import (
    VectorPage,
    neighbour_columns,
    selected_items,
    show_whole,
    table_over_text,
)
from cfbatch_gui.ui.tables.table_rows import Column, ScoreColumn
from cfbatch_gui.ui.tables.table_view import PagedRows, Rows, TableView
from cfbatch_gui.ui.theme import MEDIUM, SMALL
from cfbatch_gui.ui.widgets import Flow, Label, LinkButton, boxed, column, row, split
from cfbatch_gui.ui.widgets.text_panel import TextPanel

_RESTING = 0.35  # seconds after the last key
_TYPICAL = 3


@dataclass(frozen=True, slots=True)
class ClusterRow:
    """A cluster, its number from 1, and the texts nearest to its centre; `share` is that of all texts that it has."""

    number: int
    cluster: Cluster
    typical: tuple[EmbeddedText, ...]
    share: float


class ClustersView(VectorPage):
    """Computes the clusters again whenever their number changes."""

    def __init__(self, program: Program, notices: Notices, *, memory: Memory | None = None) -> None:
        super().__init__(program, notices, "layers")
        self.found: Clusters | None = None
        self._members: tuple[tuple[int, float], ...] = ()  # (item number, similarity) of the chosen cluster
        self._make_widgets(memory)
        self._lay_out()

    def clear(self) -> None:
        self.found, self._members = None, ()
        self.rows.set_rows(())
        self.members.refresh(0)
        self.count.setText("")

    def arrived(self, *, is_first: bool) -> None:
        if is_first and self.embeddings is not None:
            self.number.blockSignals(True)
            self.number.setValue(usual_number(self.embeddings.count))
            self.number.blockSignals(False)
        self.tasks.start("group", self._group(0.0))

    def row_choices(self) -> tuple[RowChoice, ...]:
        if self.found is None:
            return ()
        clusters = [self.rows.row(index).number for index in self.table.selected_rows()]
        items = [item for number in clusters for item in self.found.items_of(number - 1).tolist()]
        one = self.tr("cluster {n}").format(n=clusters[0]) if clusters else ""
        return row_choices(
            (one if len(clusters) == 1 else self.tr("selected clusters"), items),
            selected_items(self.member_table, self.members),
        )

    # Making

    def _make_widgets(self, memory: Memory | None) -> None:
        self.number = QSpinBox()
        self.number.setRange(2, MOST_CLUSTERS)
        self.number.setAccessibleName(self.tr("Number of clusters"))
        self.number.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.number.valueChanged.connect(lambda _: self.tasks.start("group", self._group(_RESTING)))
        self.count = Label("", "quiet")
        self.table_link = LinkButton(self.tr("Show in table"), "table", self._show_in_table)
        self.rows: Rows[ClusterRow] = Rows(_columns(), key=lambda each: each.number, parent=self)
        self.table = TableView(
            "vectors/clusters", self.tr("Clusters"), self.rows, memory=memory, on_picked=self._picked
        )
        self.table.cells.sample = "0,000"
        self.title = Label("", "strong")
        self.members: PagedRows[Neighbour] = PagedRows(neighbour_columns(), count=0, fetch=self._fetch, parent=self)
        title = self.tr("Texts of the cluster")
        self.member_table = TableView(
            "vectors/cluster", title, self.members, memory=memory, on_picked=self._member_picked
        )
        self.panel = TextPanel(lines=4)

    def _lay_out(self) -> None:
        label = Label(self.tr("Number of clusters"), "quiet")
        label.setBuddy(self.number)
        head = row(self.title, None, self.table_link, margins=(MEDIUM, SMALL, SMALL, SMALL))
        members = column(head, (table_over_text(self.member_table, self.panel), 1), gap=0)
        body = split(self.table, boxed(members), sizes=(560, 440))
        self.lay_out_content(body, above=Flow(boxed(row(label, self.number)), self.count))

    # Grouping

    async def _group(self, resting: float) -> None:
        await asyncio.sleep(resting)
        embeddings, number = self.embeddings, self.number.value()
        if embeddings is None:
            return
        found = await self.worked_out(
            self.tr("Grouping the texts…"), lambda tell: find_clusters(embeddings, number, _TYPICAL, tell)
        )
        typical = [await asyncio.to_thread(embeddings.texts, each.typical) for each in found.clusters]
        self.found = found
        self.rows.set_rows(
            tuple(
                ClusterRow(cluster_no, cluster, texts, cluster.size / len(found.item_numbers))
                for cluster_no, (cluster, texts) in enumerate(zip(found.clusters, typical, strict=True), 1)
            )
        )
        texts = display.plural(len(found.item_numbers), "{n} text", "{n} texts")
        clusters = display.plural(len(found.clusters), "{n} cluster", "{n} clusters")
        fewer = self.tr("no more different directions") if len(found.clusters) < number else ""
        self.count.setText(" · ".join(filter(None, (texts, clusters, fewer))))
        if found.clusters:
            self.table.selectRow(0)
            self._picked(0)
        self.show_foot(
            self.tr("Typical texts are those nearest to the middle of their cluster. The grouping is repeatable."),
            without_direction=found.without_direction,
        )

    def _picked(self, index: int) -> None:
        if self.found is None or not 0 <= index < self.rows.rowCount():
            return
        found, chosen = self.found, self.rows.row(index)
        number = chosen.number - 1
        items = found.items_of(number)
        indices = found.item_numbers.searchsorted(items)
        self._members = tuple(zip(items.tolist(), found.similarities[indices].tolist(), strict=True))
        count = display.plural(len(items), "{n} text", "{n} texts")
        self.title.setText(self.tr("Cluster {n}: {texts}").format(n=chosen.number, texts=count))
        self.members.refresh(len(self._members))
        self.member_table.selectRow(0)
        self._member_picked(0)

    def _fetch(self, start: int, stop: int) -> Sequence[Neighbour]:
        members = self._members[start:stop]
        texts = self.texts([item for item, _ in members])
        return tuple(Neighbour(text, similarity) for text, (_, similarity) in zip(texts, members, strict=True))

    def _member_picked(self, index: int) -> None:
        if 0 <= index < len(self._members):
            show_whole(self.members.row(index).text, self.panel)

    def _show_in_table(self) -> None:
        self.rows_wanted.emit(tuple(item for item, _ in self._members), self.title.text())


def _columns() -> tuple[Column[ClusterRow], ...]:
    return (
        Column("", lambda each: each.number, key="number", align="right", width=44),
        Column(
            tr("Texts"),
            lambda each: each.cluster.size,
            display.number,
            key="size",
            width=120,
            least=64,
            bar=lambda each: each.share,
            tip=tr("How many texts it has. A full bar would be all texts of the job."),
        ),
        Column(
            tr("Typical texts"),
            lambda each: "  ·  ".join(display.one_line(text.text, 90) for text in each.typical),
            key="typical",
            stretch=True,
            sortable=False,
        ),
        ScoreColumn(
            tr("Likeness"),
            lambda each: each.cluster.similarity,
            key="similarity",
            width=90,
            gives_way=True,
            tip=tr("The mean similarity of its texts to its middle: 1 is the same direction."),
        ),
    )
