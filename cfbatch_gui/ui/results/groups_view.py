"""Groups of similar texts: near duplicates, of which one is kept, and clusters; with the texts of the chosen group."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSignalBlocker, Qt, Signal
from PySide6.QtWidgets import QDoubleSpinBox, QSizePolicy, QSpinBox

from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.embeddings import EmbeddedText, Progress
from cfbatch_gui.core.results.groups import (
    MOST_CLUSTERS,
    UNASKED_TEXTS,
    USUAL_THRESHOLD,
    Cluster,
    Clusters,
    Duplicates,
    Group,
    Keep,
    find_clusters,
    find_duplicates,
    usual_number,
)
from cfbatch_gui.ui.memory import memory
from cfbatch_gui.ui.notices import Notices
from cfbatch_gui.ui.result_view import RowChoice, row_choices
from cfbatch_gui.ui.results.results_page import (
    ListedText,
    TextList,
    VectorPage,
    id_column,
    labelled,
    row_column,
    similarity_column,
    text_column,
)
from cfbatch_gui.ui.tables.table_rows import Column, NumberColumn, ScoreColumn
from cfbatch_gui.ui.tables.table_view import PagedRows, Rows, TableView
from cfbatch_gui.ui.widgets import Choice, Flow, IconButton, Label, QuietButton, boxed, row, split
from cfbatch_gui.words import figures
from cfbatch_gui.words.languages import tr

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
    """Computes the clusters again whenever their number changes, which is remembered by job."""

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "layers")
        self.found: Clusters | None = None
        self.number = QSpinBox()
        self.number.setRange(2, MOST_CLUSTERS)
        self.number.setAccessibleName(self.tr("Number of groups"))
        self.number.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        self.number.valueChanged.connect(self._number_chosen)
        self.count = Label("", "quiet")
        self.rows: Rows[ClusterRow] = Rows(_cluster_columns(), key=lambda each: each.number, parent=self)
        self.table = TableView("vectors/clusters", self.tr("Groups"), self.rows, on_picked=self._picked)
        self.table.cells.sample = "0,000"
        self.members = TextList(self, "vectors/cluster", self.tr("Texts of the group"))
        body = split(self.table, self.members, sizes=(560, 440), name="groups")
        self.lay_out(body, Flow(labelled(self.tr("Number of groups"), self.number), self.count))

    def clear(self) -> None:
        self.found = None
        self.count.setText("")

    def arrived(self, *, is_first: bool) -> None:
        kept = memory.get(self._key())
        with QSignalBlocker(self.number):
            self.number.setValue(int(kept) if kept.isdigit() else usual_number(self.embeddings.count))
        self.tasks.start("group", self._group(0.0))

    def row_choices(self) -> tuple[RowChoice, ...]:
        if self.found is None:
            return ()
        clusters = [self.rows.row(index).number for index in self.table.selected_rows()]
        items = [item for number in clusters for item in self.found.items_of(number - 1).tolist()]
        one = self.tr("group {n}").format(n=clusters[0]) if clusters else ""
        name = one if len(clusters) == 1 else self.tr("selected groups")
        return row_choices((name, items), self.members.selected())

    def _key(self) -> str:
        return f"groups/{self.job.id}"

    def _number_chosen(self, number: int) -> None:
        if self.vectors_read is not None:
            memory.set(self._key(), str(number))
            self.tasks.start("group", self._group(_RESTING))

    async def _group(self, resting: float) -> None:
        await asyncio.sleep(resting)
        embeddings, number = self.embeddings, self.number.value()

        def work(tell: Progress) -> tuple[Clusters, list[tuple[EmbeddedText, ...]]]:
            found = find_clusters(embeddings, number, _TYPICAL, tell)
            return found, [embeddings.texts(each.typical) for each in found.clusters]

        found, typical = await self.worked_out(self.tr("Grouping the texts…"), work)
        self.found = found
        self.rows.set_rows(
            [
                ClusterRow(cluster_no, cluster, texts, cluster.size / len(found.item_numbers))
                for cluster_no, (cluster, texts) in enumerate(zip(found.clusters, typical, strict=True), 1)
            ]
        )
        texts = figures.plural(len(found.item_numbers), "{n} text", "{n} texts")
        clusters = figures.plural(len(found.clusters), "{n} group", "{n} groups")
        fewer = self.tr("no more texts that differ") if len(found.clusters) < number else ""
        self.count.setText(" · ".join(filter(None, (texts, clusters, fewer))))
        self.stack.show_content()
        self.table.selectRow(0)
        if found.clusters:
            self._picked(0)  # also where it was the chosen one
        self.show_foot(
            self.tr(
                "Typical texts are those most like the others of their group. The same number gives the same groups."
            ),
            without_direction=found.without_direction,
        )

    def _picked(self, index: int) -> None:
        if self.found is None:
            return
        found, number = self.found, self.rows.row(index).number
        items = found.items_of(number - 1)
        similarities = found.similarities[found.item_numbers.searchsorted(items)]
        count = figures.plural(len(items), "{n} text", "{n} texts")
        name = self.tr("Group {n}: {texts}").format(n=number, texts=count)
        self.members.show_items(items.tolist(), similarities.tolist(), name=name)


def _cluster_columns() -> tuple[Column[ClusterRow], ...]:
    return (
        Column("", lambda each: each.number, key="number", align="right", width=44),
        Column(
            tr("Texts"),
            lambda each: each.cluster.size,
            figures.number,
            key="size",
            width=120,
            least=64,
            bar=lambda each: each.share,
            tip=tr("How many texts it has. A full bar would be all texts of the job."),
        ),
        Column(
            tr("Typical texts"),
            lambda each: "  ·  ".join(figures.one_line(text.text, 90) for text in each.typical),
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
            tip=tr("How much alike its texts are: 1 would be all the same."),
        ),
    )


@dataclass(frozen=True, slots=True)
class GroupRow:
    group: Group
    text: EmbeddedText


class DuplicatesView(VectorPage):
    """Searches again whenever the threshold or what is to be kept changes; for many texts only when asked.

    `export_wanted` brings the id of the job, of which the rows that stay are to be exported.
    """

    export_wanted = Signal(str)

    def __init__(self, program: Program, notices: Notices) -> None:
        super().__init__(program, notices, "copy")
        self.found: Duplicates | None = None
        self._groups: tuple[Group, ...] = ()
        self.threshold = QDoubleSpinBox(minimum=0.001, maximum=1.0, singleStep=0.01, decimals=3)
        self.threshold.setAccessibleName(self.tr("Similar from"))
        self.threshold.valueChanged.connect(lambda _: self._look_again())
        kept = ((self.tr("Keep the first"), Keep.FIRST), (self.tr("Keep the longest"), Keep.LONGEST))
        self.keep = Choice(self.tr("Which text of a group stays"), kept, lambda _: self._look_again())
        self.count = Label("", "quiet")
        self.count.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self.save_button = QuietButton(
            self.tr("Save list without duplicates…"),
            "download",
            lambda: self.export_wanted.emit(self.job.id),
            tip=self.tr("Your own columns, with the rows that stay"),
        )
        words = self.tr("Show the texts that go in the table")
        self.table_button = IconButton("table", words, self._show_in_table)
        self.groups: PagedRows[GroupRow] = PagedRows(_group_columns(), count=0, fetch=self._fetch, parent=self)
        self.group_table = TableView("vectors/groups", self.tr("Groups"), self.groups, on_picked=self._picked)
        title = self.tr("Texts of the group")
        self.members = TextList(self, "vectors/members", title, columns=_member_columns())
        fields = labelled(self.tr("Similar from"), self.threshold, self.keep)
        buttons = boxed(row(self.table_button, self.save_button))
        content = split(self.group_table, self.members, sizes=(420, 580), name="duplicates")
        self.lay_out(content, Flow(fields, self.count, buttons))

    def clear(self) -> None:
        self.found, self._groups = None, ()
        with QSignalBlocker(self.threshold):
            self.threshold.setValue(USUAL_THRESHOLD)
        self.count.setText("")

    def arrived(self, *, is_first: bool) -> None:
        if self.embeddings.count <= UNASKED_TEXTS or self.found is not None:
            self._look_again(0.0)
        else:
            sentence = self.tr("Comparing so many texts takes a while: every text is compared with every other.")
            self.say(sentence, self.tr("Look for near duplicates"), lambda: self._look_again(0.0))
            self.show_foot()

    def row_choices(self) -> tuple[RowChoice, ...]:
        found = self.found
        if found is None or not self._groups:
            return ()
        stays = found.stays == found.item_numbers
        groups = [self._groups[index] for index in self.group_table.selected_rows()]
        of_groups = [item for group in groups for item in (group.stays, *group.goes)]
        without = self.tr("without near duplicates")
        return row_choices(
            (without, found.item_numbers[stays].tolist()),
            (self.tr("near duplicates that go"), found.item_numbers[~stays].tolist()),
            (self.tr("this group") if len(groups) < 2 else self.tr("selected groups"), of_groups or self.members.items),
            self.members.selected(),
            proposed=without,
        )

    def _look_again(self, resting: float = _RESTING) -> None:
        self.tasks.start("look", self._look(resting))

    async def _look(self, resting: float) -> None:
        await asyncio.sleep(resting)
        embeddings, threshold, keep = self.embeddings, self.threshold.value(), Keep(str(self.keep.value()))

        def work(tell: Progress) -> tuple[Duplicates, tuple[Group, ...]]:
            found = find_duplicates(embeddings, threshold, keep, tell)
            return found, found.groups()

        found, groups = await self.worked_out(self.tr("Comparing every text with every other…"), work)
        self.found, self._groups = found, groups
        self.groups.refresh(len(groups))
        if groups:
            self.stack.show_content()
        else:
            self.say(self.tr("No two texts are as similar as {n}.").format(n=self.threshold.text()))
        goes = figures.plural(found.gone, "{n} would go", "{n} would go")
        words = figures.plural(len(groups), "{n} group", "{n} groups")
        self.count.setText(f"{goes} · {words}" if groups else self.tr("no near duplicates"))
        self.save_button.set_possible("" if groups else self.tr("There is nothing to leave out."))
        self.table_button.setEnabled(bool(groups))
        self.group_table.selectRow(0)
        self.show_foot(
            self.tr("Every text that goes is at least so similar to the one that stays. Nothing in the job changes."),
            without_direction=found.without_direction,
        )

    def _fetch(self, start: int, stop: int) -> Sequence[GroupRow]:
        groups = self._groups[start:stop]
        texts = self.texts([group.stays for group in groups])
        return tuple(GroupRow(group, text) for group, text in zip(groups, texts, strict=True))

    def _picked(self, index: int) -> None:
        group = self._groups[index]
        self.members.show_items((group.stays, *group.goes), (None, *group.similarities))

    def _show_in_table(self) -> None:
        if self.found is not None:
            going = self.found.item_numbers[self.found.stays != self.found.item_numbers]
            self.rows_wanted.emit(tuple(going.tolist()), self.tr("Near duplicates that go"))


def _group_columns() -> tuple[Column[GroupRow], ...]:
    least = tr("Least similar")
    return (
        Column(tr("Stays"), lambda each: each.text.text, key="text", stretch=True),
        NumberColumn(tr("Texts"), lambda each: len(each.group.goes) + 1, key="texts", width=70),
        ScoreColumn(least, lambda each: min(each.group.similarities), key="least", width=104, gives_way=True),
    )


def _member_columns() -> tuple[Column[ListedText], ...]:
    return (
        Column(
            "",
            lambda each: each.similarity,
            key="decision",
            width=84,
            widest=(tr("stays"), tr("goes")),
            copies_text=True,
            text=lambda each: tr("stays") if each.similarity is None else tr("goes"),
            icon=lambda each: ("check", "done") if each.similarity is None else ("minus", "quiet"),
            colour=lambda each: "text" if each.similarity is None else "quiet",
        ),
        row_column(gives_way=True),
        text_column(),
        id_column(hidden=True),
        similarity_column(),
    )
