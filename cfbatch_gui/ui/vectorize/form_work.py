"""What is read for the form before a push: the account's indexes, and what the job's vectors are to the chosen one."""

import asyncio
from contextlib import suppress

from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.jobs.states import Job
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.system.languages import said
from cfbatch_gui.core.vectorize.push_values import Push, PushOptions, PushProgress
from cfbatch_gui.core.vectorize.wire import VectorizeIndex
from cfbatch_gui.ui.state_names import title_words
from cfbatch_gui.ui.tasks import Tasks
from cfbatch_gui.ui.vectorize.job_vectors import JobVectors
from cfbatch_gui.ui.vectorize.push_form import PushForm
from cfbatch_gui.ui.vectorize.push_words import fits, proposed_name

CHECK, _LIST = "check", "indexes"  # names of tasks
_RESTING = 0.35  # seconds after the last change, before the vectors are looked at
_MOST_COUNTED = 20  # indexes of which the number of vectors is asked for, two calls each


class FormWork:
    """Fills a form for one job at a time, by `tasks` of its page."""

    def __init__(self, program: Program, form: PushForm, tasks: Tasks) -> None:
        self._program, self._form, self._tasks = program, form, tasks
        self._job_id, self._job_name = "", ""
        self._known: JobVectors | None = None
        self.has_failed = False  # the last question for the account's indexes
        self.metrics: dict[str, str] = {}  # of the indexes that were listed, by their names
        form.changed.connect(lambda: tasks.start(CHECK, self._check(_RESTING)))

    @property
    def job_id(self) -> str:
        """The job of which the form has the choices, "" for none."""
        return self._job_id

    def begin(self, job: Job, known: JobVectors, push: Push | None) -> None:
        """Fill the form, with the choices of a push before."""
        self._job_id, self._job_name, self._known = job.id, job.name, known
        options = push.options if push is not None else PushOptions()
        account = title_words(known.connection.title)
        is_practice = known.connection.is_practice
        self._form.begin(known.vectors, options, account, is_practice=is_practice, earlier=known.earlier)
        self.list_indexes(push.index if push is not None else known.usual_index)
        self._tasks.start(CHECK, self._check(0.0))

    def list_indexes(self, wanted: str) -> None:
        """Ask for the account's indexes, and choose the wanted one."""
        self._tasks.start(_LIST, self._list(wanted))

    def stop(self) -> None:
        """Stop what is read; the form is to be filled anew."""
        self._job_id = ""
        self._tasks.cancel(CHECK)
        self._tasks.cancel(_LIST)

    async def _list(self, wanted: str) -> None:
        known = self._known
        if known is None:
            return
        vectorize, through = self._program.vectorize, known.connection.id
        self.has_failed = True
        found = await vectorize.indexes(through)
        self.has_failed = False
        self.metrics.update({each.name: each.metric for each in found})
        self._form.index.offer(found, self._job_name, wanted)
        counts: dict[str, int] = {}
        possible = [each for each in found if fits(each, known.vectors.dimension)]
        with suppress(UserError):  # the list is there; only the numbers are missing
            for each in possible[:_MOST_COUNTED]:
                counts[each.name] = (await vectorize.state(through, each.name)).info.vector_count
                self._form.index.show_counts(counts)

    async def _check(self, resting: float) -> None:
        await asyncio.sleep(resting)
        known, form = self._known, self._form
        if known is None:
            return
        index = form.index.index()
        # The name of a new index may be half typed, and what it is called changes nothing about the vectors.
        name = index.name if index is not None else proposed_name(self._job_name, self.metrics)

        def show(progress: PushProgress) -> None:
            if not form.is_checked():
                form.check.show_reading(progress.done, progress.total)

        try:
            check = await self._program.vectorize.check(
                *(self._job_id, known.connection.id, name, form.options()), index=index or VectorizeIndex(), show=show
            )
        except UserError as error:
            form.show_failure(said(error.message))
        else:
            form.show_check(check)
