"""The five figures of a draft: what will be sent, and what it costs."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QGridLayout, QWidget

from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.jobs.plan.preflight import Preflight, Reuse
from cfbatch_gui.core.jobs.plan.spending import Spent
from cfbatch_gui.core.workers_ai.catalogue import ModelMetadata
from cfbatch_gui.core.workers_ai.prices import FREE_NEURONS_A_DAY, next_reset
from cfbatch_gui.ui.display import dollars, number, one_line, plural, size
from cfbatch_gui.ui.inputs.input_labels import clock_time, count_range, share_of_day
from cfbatch_gui.ui.theme import MEDIUM
from cfbatch_gui.ui.widgets import Figure

_NOTHING = "–"
_LONGEST_NAME = 40  # characters of a job's name
_NOTEWORTHY = 0.01  # share of the free neurons of a day; less than this spent today is not mentioned


class FiguresRow(QWidget):
    """Five figures in columns of fixed proportions, so that changing numbers do not move them."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.first, self.second, self.batches, self.tokens, self.price = (Figure(wrap=True) for _ in range(5))
        grid = QGridLayout(self)
        grid.setContentsMargins(0, 2, 0, 0)
        grid.setHorizontalSpacing(MEDIUM)
        for index, figure in enumerate(self.figures()):
            grid.addWidget(figure, 0, index, Qt.AlignmentFlag.AlignTop)
            grid.setColumnStretch(index, 7 if index < 4 else 12)
            grid.setColumnMinimumWidth(index, 84)

    def figures(self) -> tuple[Figure, ...]:
        """The figures, from left to right."""
        return self.first, self.second, self.batches, self.tokens, self.price

    def says_nothing(self) -> bool:
        """Whether there are no figures yet."""
        return self.first.number() in ("", _NOTHING)

    def show_nothing(self, kind: Kind | None) -> None:
        """Show dashes with the captions of a kind of job, before anything is counted."""
        names = (self.tr("texts"), self.tr("requests")) if kind is Kind.EMBED else self._ranking_names()
        captions = (*names, self.tr("batches"), self.tr("tokens"), self.tr("price"))
        for figure, caption in zip(self.figures(), captions, strict=True):
            figure.set_figure(_NOTHING, caption)

    def show_preflight(
        self, found: Preflight, kind: Kind, model: ModelMetadata, *, is_practice: bool, spent: Spent, now: float
    ) -> None:
        """Show the figures of a draft. `now` is in seconds since 1970."""
        if kind is Kind.RANK:
            counts, names = (found.queries, found.texts), self._ranking_names(found.queries, found.texts)
        else:
            counts = (found.texts, found.requests)
            names = (
                self.tr("text") if found.texts == 1 else self.tr("texts"),
                self.tr("request") if found.requests == 1 else self.tr("requests"),
            )
        if found.reuse is not None:
            counts, names = (found.sent_texts, found.reuse.texts), self._reuse_names(found, found.reuse)
        self.first.set_figure(number(counts[0]), names[0])
        self.second.set_figure(number(counts[1]), names[1])
        self.batches.set_figure(number(len(found.batches)), self._batches_caption(found))
        if is_practice:
            self.tokens.set_figure(count_range(found.tokens_low, found.tokens_high), self.tr("tokens, estimated"))
            self.price.set_figure(self.tr("$0"), self.tr("Practice: costs nothing"))
        else:
            neurons = count_range(round(found.price_low.neurons), max(1, round(found.price_high.neurons)))
            self.tokens.set_figure(
                count_range(found.tokens_low, found.tokens_high),
                self.tr("tokens · {neurons} neurons").format(neurons=neurons),
            )
            self.price.set_figure(
                dollars(found.price_low.dollars, found.price_high.dollars),
                self._price_caption(found, model, spent, now),
            )

    def _ranking_names(self, queries: int = 0, contexts: int = 0) -> tuple[str, str]:
        return (
            self.tr("query") if queries == 1 else self.tr("queries"),
            self.tr("context") if contexts == 1 else self.tr("contexts"),
        )

    def _reuse_names(self, found: Preflight, reuse: Reuse) -> tuple[str, str]:
        sent = self.tr("text to send") if found.sent_texts == 1 else self.tr("texts to send")
        if len(reuse.sources) == 1:
            name = one_line(reuse.sources[0].name, _LONGEST_NAME)
            return sent, self.tr("taken from “{name}”").format(name=name)
        return sent, plural(len(reuse.sources), "taken from {n} earlier job", "taken from {n} earlier jobs")

    def _batches_caption(self, found: Preflight) -> str:
        if any(batch.at_once for batch in found.batches):
            return self.tr("request at once") if len(found.batches) == 1 else self.tr("requests at once")
        if len(found.batches) == 1:
            return self.tr("batch · {size}").format(size=size(found.largest_bytes))
        return self.tr("batches · largest {size}").format(size=size(found.largest_bytes))

    def _price_caption(self, found: Preflight, model: ModelMetadata, spent: Spent, now: float) -> str:
        if not model.is_listed:
            return self.tr("at most; this model's price is not known")
        if found.reuse is not None:
            return self.tr("instead of {price}").format(
                price=dollars(found.reuse.low.dollars, found.reuse.high.dollars)
            )
        share, time = share_of_day(found.price_high.share_of_free_day), clock_time(next_reset(now))
        if spent.neurons < _NOTEWORTHY * FREE_NEURONS_A_DAY:
            return self.tr("{share}; resets {time}").format(share=share, time=time)
        left = int(100 * spent.free_left / FREE_NEURONS_A_DAY)
        return self.tr("{share}; {n} % left till {time}").format(share=share, n=left, time=time)
