"""Estimating what each choice of candidates would come to, for the drafts of data sets without a run."""

import asyncio
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path

from PySide6.QtCore import QObject

from cfbatch_gui.core.inputs.input_values import CandidatePool, CandidateRule, Kind
from cfbatch_gui.core.program import Program
from cfbatch_gui.ui.inputs.draft_state import DraftState, DraftStates

_Subject = tuple[Path, int, CandidateRule | None, Kind, str]  # with the bytes of the files, and the name of the model


class _Stopped(Exception):
    """Raised in a thread whose result is not needed any more."""


class DraftOffers(QObject):
    """Sets the `offers` of a draft that was read, once for each file, kind of job and model, in a thread."""

    def __init__(self, program: Program, drafts: DraftStates) -> None:
        super().__init__(drafts)
        self._program, self._drafts = program, drafts
        self._subjects: dict[str, _Subject] = {}
        drafts.changed.connect(self._look)

    def _look(self, job_id: str) -> None:
        state = self._drafts.state(job_id)
        if state.is_reading or state.opening:
            if not state.offers:
                self._subjects.pop(job_id, None)  # another file, or the draft was forgotten meanwhile
            return
        if state.file is None or state.file.source.candidates is None:
            self._subjects.pop(job_id, None)
            self._drafts.tasks.cancel(f"offers {job_id}")
            return
        subject = self._subject(job_id, state)
        if subject is not None and subject != self._subjects.get(job_id):
            self._subjects[job_id] = subject
            self._drafts.tasks.start(f"offers {job_id}", self._estimate(job_id, state, subject))

    def _subject(self, job_id: str, state: DraftState) -> _Subject | None:
        if state.file is None or state.mapping is None:
            return None
        source = state.file.source
        is_sample = source.candidates is not None and source.candidates.pool is CandidatePool.SAMPLE
        sample = source.candidates if is_sample else CandidateRule()
        return source.path, source.size, sample, state.mapping.kind, self._drafts.job(job_id).model

    async def _estimate(self, job_id: str, state: DraftState, subject: _Subject) -> None:
        if state.file is None:
            return
        stop = threading.Event()

        def check(_texts: int) -> None:
            if stop.is_set():
                raise _Stopped

        estimate = partial(self._program.candidate_offers, job_id, state.file.source, subject[3], progress=check)
        try:
            offers = await asyncio.to_thread(estimate)
        finally:
            stop.set()
        if self._subjects.get(job_id) == subject:
            self._drafts.set(job_id, replace(self._drafts.state(job_id), offers=offers))
