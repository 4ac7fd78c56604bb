"""A comparison of jobs as text and as one JSON object."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass

import msgspec.structs

from cfbatch_gui.cli.console import one_line
from cfbatch_gui.cli.language import figures, number, percent, tr
from cfbatch_gui.cli.quality_report import (
    answer_words,
    json_of_measures,
    json_of_unusable,
    judged_by,
    remarks,
    unusable_words,
)
from cfbatch_gui.cli.report import table
from cfbatch_gui.core.evaluation.comparison import (
    Comparison,
    P,
    QueryChange,
    QueryMove,
    QueryMoves,
    query_changes,
    summary,
)
from cfbatch_gui.core.evaluation.joining import MatchedBy
from cfbatch_gui.core.evaluation.judged import Evaluation, answers
from cfbatch_gui.core.evaluation.judged_documents import BookGrades
from cfbatch_gui.core.results.numbers import score_text

_SHOWN = 5e-5  # a smaller difference is shown as 0.0000


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """`moves` has one item for each job but the first. The `most` queries that changed most are shown of each."""

    comparison: Comparison
    moves: Sequence[QueryMoves]
    evaluation: Evaluation | None
    top_k: int
    most: int
    book: BookGrades | None = None

    def json(self) -> str:
        """The comparison as one JSON object; the jobs are in the order given."""
        value = {
            "jobs": [self._job(number) for number in range(len(self.comparison.runs))],
            "compared": {
                "queries": len(self.comparison.queries),
                "contexts": len(self.comparison.query),
                "partial": self.comparison.is_partial,
            },
            "rbo_p": P,
            "top_k": self.top_k,
            "with_first": [self._with_first(number) for number in range(1, len(self.comparison.runs))],
            "metrics": self._metrics(),
            "answers": self._answers(),
            "judgements": self.book.name if self.book is not None else None,
        }
        return json.dumps(value, indent=2)  # ASCII, which every terminal encoding preserves

    def lines(self, width: int) -> Iterator[str]:
        """The comparison as lines of text."""
        comparison = self.comparison
        if comparison.is_partial:
            yield tr("Partial: not every context has a score. What all jobs have scored is compared.")
            yield ""
        rows = [
            (
                f"{index}",
                number(len(run.table.asked)),
                _of(run.scored, len(run.table)),
                run.metadata.model,
                run.metadata.name,
            )
            for index, run in enumerate(comparison.runs, 1)
        ]
        yield from table((tr("JOB"), tr("QUERIES"), tr("SCORES"), tr("MODEL"), tr("NAME")), rows, width)
        yield ""
        queries, contexts = len(comparison.queries), len(comparison.query)
        yield tr("Compared: {queries} queries with {contexts} contexts that all have scored").format(
            queries=number(queries), contexts=number(contexts)
        )
        for index, joined in enumerate(comparison.joined[1:], 2):
            yield tr("Matched 1 and {job}: queries {queries}; contexts {contexts} (never by their place)").format(
                job=index, queries=_matched(joined.queries), contexts=_matched(joined.texts)
            )
        yield ""
        yield from table(
            (
                tr("JOB"),
                tr("RBO (p={p})").format(p=number(P, "g")),
                tr("TOP {k}").format(k=self.top_k),
                tr("ANOTHER FIRST"),
                tr("UNMOVED"),
            ),
            [self._summary_row(index) for index in range(1, len(comparison.runs))],
            width,
        )
        for index, moves in enumerate(self.moves, 2):
            if most := self._most(moves):
                yield ""
                yield tr("Moved most from 1 to {job}:").format(job=index)
                titles = (tr("RBO"), tr("TOP {k}").format(k=self.top_k), tr("MOST RANKS"), tr("QUERY"))
                yield from table(titles, _move_rows(most), width)
        for index, run in enumerate(comparison.runs, 1):
            if run.unusable is not None:
                yield ""
                yield tr("Job {job}: {sentence}").format(job=index, sentence=unusable_words(run.unusable))
        if self.evaluation is not None:
            yield ""
            yield from self._metric_lines(self.evaluation, width)

    def _most(self, moves: QueryMoves) -> list[QueryMove]:
        order = moves.most_moved_first()
        moved = order[moves.largest_change[order] > 0]
        return [moves[index] for index in moved[: self.most].tolist()]

    def _summary_row(self, index: int) -> tuple[str, ...]:
        total = summary(self.moves[index - 1])
        return (
            f"{index + 1}",
            figures(score_text(total.rbo)),
            figures(score_text(total.top)),
            _of(total.other_first, total.queries),
            _of(total.unmoved, total.queries),
        )

    def _metric_lines(self, evaluation: Evaluation, width: int) -> Iterator[str]:
        names = tuple(evaluation.runs[0].means)
        rows = [
            (
                f"{index}",
                *(figures(run.means[name].text()) for name in names),
                percent(run.judged_share),
                number(run.without_answer),
            )
            for index, run in enumerate(evaluation.runs, 1)
        ]
        yield tr(
            "By {judgements} of {queries} queries ({left_out} without judgements left out, {conflicts} contexts"
            " labelled differently; a query without an answer counts 0):"
        ).format(
            judgements=judged_by(self.book),
            queries=number(len(evaluation.queries)),
            left_out=number(evaluation.left_out),
            conflicts=number(evaluation.conflicts),
        )
        titles = (tr("JOB"), *names, tr("JUDGED@{k}").format(k=evaluation.k), tr("NO ANSWER"))
        yield from table(titles, rows, width)
        yield from remarks(evaluation.runs)
        if not any(run.has_contrast for run in evaluation.runs):
            return
        for index, found in enumerate(answers(evaluation), 2):
            yield ""
            yield answer_words(found, index, names[0])
            if rows := self._changed_rows(query_changes(self.comparison, evaluation, index - 1, names[0])):
                yield from table(("1", f"{index}", tr("DIFFERENCE"), tr("QUERY")), rows, width)

    def _changed_rows(self, changes: Sequence[QueryChange]) -> list[tuple[str, ...]]:
        """The queries whose measure changed most."""
        changed = sorted(changes, key=lambda each: -abs(each.difference))
        return [
            (
                figures(score_text(each.value)),
                figures(score_text(each.other_value)),
                number(each.difference, "+.4f"),
                one_line(each.text),
            )
            for each in changed[: self.most]
            if abs(each.difference) > _SHOWN
        ]

    def _job(self, number: int) -> dict[str, object]:
        run, joined = self.comparison.runs[number], self.comparison.joined[number]
        value: dict[str, object] = {
            "job": run.metadata.id,
            "name": run.metadata.name,
            "model": run.metadata.model,
            "queries": len(run.table.asked),
            "contexts": len(run.table),
            "scored": run.scored,
            "labels_left_out": json_of_unusable(run.unusable),
        }
        if number:
            value["matched_queries"] = _counts(joined.queries)
            value["matched_contexts"] = _counts(joined.texts)
        return value

    def _with_first(self, number: int) -> dict[str, object]:
        moves = self.moves[number - 1]
        most = [
            {name: value for name, value in msgspec.structs.asdict(move).items() if name != "index"}
            for move in self._most(moves)
        ]
        return {"job": self.comparison.runs[number].metadata.id, **asdict(summary(moves)), "moved_most": most}

    def _answers(self) -> list[dict[str, object]] | None:
        """What each other job is to the first by the first metric, None without labels."""
        if self.evaluation is None:
            return None
        name = next(iter(self.evaluation.runs[0].values))
        return [
            {
                "metric": name,
                **asdict(found),
                "difference_is_seen": found.is_seen,
                "by_query": [
                    {"query": each.text, "value": each.value, "other_value": each.other_value}
                    for each in query_changes(self.comparison, self.evaluation, number, name)
                ],
            }
            for number, found in enumerate(answers(self.evaluation), 1)
        ]

    def _metrics(self) -> dict[str, object] | None:
        found = self.evaluation
        if found is None:
            return None
        return {
            "queries": len(found.queries),
            "left_out": found.left_out,
            "conflicts": found.conflicts,
            "measures_nothing": found.measures_nothing,
            "jobs": [json_of_measures(run) for run in found.runs],
        }


def _matched(by: dict[MatchedBy, int]) -> str:
    words = {
        MatchedBy.ID_AND_TEXT: tr("{n} by id and text"),
        MatchedBy.TEXT: tr("{n} by text"),
        MatchedBy.ID: tr("{n} by id alone, with other texts"),
    }
    return ", ".join(words[how].format(n=number(count)) for how, count in by.items() if count) or tr("none")


def _of(some: int, all_: int) -> str:
    return tr("{n} of {all}").format(n=number(some), all=number(all_))


def _counts(by: dict[MatchedBy, int]) -> dict[str, int]:
    return {how.value.replace(" ", "_"): count for how, count in by.items()}


def _move_rows(moves: Sequence[QueryMove]) -> list[tuple[str, ...]]:
    return [
        (
            figures(score_text(move.rbo)),
            figures(score_text(move.top)),
            number(move.largest_change),
            one_line(f"{move.id}  {move.text}" if move.id else move.text),
        )
        for move in moves
    ]
