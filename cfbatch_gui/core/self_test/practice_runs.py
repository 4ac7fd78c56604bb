"""Two practice jobs, a ranking and an embedding, in a folder of their own, and what is made of their results."""

import asyncio
import time
from pathlib import Path

import numpy as np

from cfbatch_gui.core.connections.credentials import Credentials
from cfbatch_gui.core.errors import UserError
from cfbatch_gui.core.export_metadata import metadata_of
from cfbatch_gui.core.inputs.file_rows import preview
from cfbatch_gui.core.inputs.input_values import Kind
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.inputs.suggest import suggest_mapping
from cfbatch_gui.core.job_folder.folder import JobFolder
from cfbatch_gui.core.jobs.states import Job, JobState
from cfbatch_gui.core.messages import comma_list, counted_message, message
from cfbatch_gui.core.practice.local_models import HashedNgrams, choose_model
from cfbatch_gui.core.program import Program
from cfbatch_gui.core.results.exports import export, targets_for
from cfbatch_gui.core.results.maps.text_map import make_map, make_tsne_map
from cfbatch_gui.core.results.vectors.embeddings import Embeddings
from cfbatch_gui.core.results.vectors.unit_vectors import unit_vectors
from cfbatch_gui.core.self_test.findings import Check, Finding, failed, ok, skipped
from cfbatch_gui.core.system.paths import Paths
from cfbatch_gui.core.system.resources import resource
from cfbatch_gui.core.workers_ai.connection_kinds import PRACTICE

# Each with a row that has no text, so that there is a failed row to export.
_EXAMPLES = {
    Kind.RANK: ("examples/help-centre-ranking.csv", "how do I reset my password,,A-9999,0\n"),
    Kind.EMBED: ("examples/product-texts.csv", "9999,,Kitchen\n"),
}


class PracticeRuns:
    """The jobs of one self-test. `folder` is a new one; the user's own data folder is never opened."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._paths = Paths(folder / "data")
        self._jobs: dict[Kind, Job] = {}

    def checks(self) -> tuple[Check, ...]:
        """In the order in which they have to run: exports and maps are made of the jobs."""
        return (
            Check(message("Practice model"), _model),
            Check(message("A ranking"), lambda: asyncio.run(self._run(Kind.RANK)), seconds=120),
            Check(message("Exports of the ranking"), lambda: self._exports(Kind.RANK), seconds=120),
            Check(message("Vectors"), lambda: asyncio.run(self._run(Kind.EMBED)), seconds=120),
            Check(message("Exports of the vectors"), lambda: self._exports(Kind.EMBED), seconds=120),
            Check(message("Maps of the vectors"), self._maps, seconds=120),
        )

    async def _run(self, kind: Kind) -> Finding:
        started = time.perf_counter()
        # Nothing of the user's environment: no token, no proxy, no folder.
        environ = {"HOME": str(self._folder), "APPDATA": str(self._folder), "XDG_STATE_HOME": str(self._folder)}
        program = await Program.open(
            self._paths.root,
            environ=environ,
            credentials=Credentials(environ={}),
            practice_times=(0.0, 0.0),
            patience=3,
        )
        try:
            source = await asyncio.to_thread(open_source, self._example(kind))
            mapping = suggest_mapping(source, kind, preview(source))
            job = program.drafts.create(kind, "self-test", program.settings.model, PRACTICE.id)
            await asyncio.to_thread(program.drafts.load, job.id, source, mapping)
            await program.actions.send(job.id)
            job = await program.runner.wait(job.id)
        finally:
            await program.close()
        if job.state is not JobState.DONE:
            return failed(message("The practice job ended as “{state}”. {error}", state=job.state, error=job.error))
        self._jobs[kind] = job
        return ok(
            counted_message(
                job.texts,
                "{n} text went through the practice service in {seconds:.1f} s.",
                "{n} texts went through the practice service in {seconds:.1f} s.",
                seconds=time.perf_counter() - started,
            )
        )

    def _example(self, kind: Kind) -> Path:
        name, without_text = _EXAMPLES[kind]
        path = self._folder / f"{kind}.csv"
        path.write_bytes(resource(name).read_bytes() + without_text.encode())
        return path

    def _exports(self, kind: Kind) -> Finding:
        if kind not in self._jobs:
            return _no_job()
        job = self._jobs[kind]
        faults, absent, written = [], [], 0
        for target in targets_for(kind):
            suffix = target.suffixes[0] if target.suffixes else ""
            path = self._folder / "exports" / kind / f"{target.name}{suffix}"
            path.parent.mkdir(parents=True, exist_ok=True)
            try:
                exported = export(self._job_folder(job), metadata_of(job, PRACTICE.title), path, target)
            except UserError as error:
                if isinstance(error.__cause__, ImportError):
                    absent.append(target.title)
                else:
                    faults.append(message("{name}: {sentence}", name=target.title, sentence=error.message))
                continue
            if all(file.stat().st_size for file in exported.files):
                written += 1
            else:
                faults.append(message("{name}: an empty file", name=target.title))
        if faults:
            return failed(comma_list(faults))
        sentence = counted_message(
            written, "{n} form was written and read back.", "{n} forms were written and read back."
        )
        if absent:
            sentence = message(
                "{sentence} Not installed, and so not tried: {names}.", sentence=sentence, names=comma_list(absent)
            )
        return ok(sentence)

    def _maps(self) -> Finding:
        if Kind.EMBED not in self._jobs:
            return _no_job()
        embeddings = Embeddings(self._job_folder(self._jobs[Kind.EMBED]))
        for made in (make_map(embeddings), make_tsne_map(unit_vectors(embeddings))):
            if len(made.points) != embeddings.count or not np.isfinite(made.points).all():
                return failed(message("The map has texts without a place."))
        return ok(
            counted_message(embeddings.count, "{n} text placed, by two methods.", "{n} texts placed, by two methods.")
        )

    def _job_folder(self, job: Job) -> JobFolder:
        return JobFolder(self._paths.job(job.id))


def _no_job() -> Finding:
    return skipped(message("There is no practice job to take it from."))


def _model() -> Finding:
    model = choose_model()
    vectors = model.embed(["An orange cloud"])
    if vectors.shape != (1, model.dimension) or not np.isfinite(vectors).all():
        return failed(message("The practice model gave vectors of a wrong form."))
    if isinstance(model, HashedNgrams):
        return skipped(
            message(
                "The small language model is not installed; the practice service compares letters instead. To install "
                "it: {command}",
                command="pip install 'cfbatch-gui[practice]'",
            )
        )
    return ok(message("{name}, on this computer", name=model.name))
