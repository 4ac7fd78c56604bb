"""Versions of the program that are broken where it collects from the account, each of which must be caught."""

from pathlib import Path

from tests.prove.variants import Variant

from cfbatch_gui.core.jobs.account.collection import AccountCollection
from cfbatch_gui.core.jobs.states import Batch
from cfbatch_gui.core.workers_ai import answers, collector
from cfbatch_gui.core.workers_ai.collector import AccountCollector, AnswerFile, StoredAnswer
from tests.prove.child import die, put
from tests.prove.compare import Breach


def _fetched_for_another_number() -> None:
    """The references, by which the program would notice, do not count."""
    fetch = AccountCollector.fetch

    async def fetch_another(
        self: AccountCollector, job_id: str, shard: int, stored: StoredAnswer, file: AnswerFile
    ) -> None:
        others = (await self.status(job_id, shard)).batches
        other = next((each for each in others if each.number != stored.number), stored)
        folder = file.path.with_suffix(".other")
        folder.mkdir(exist_ok=True)
        theirs = AnswerFile(folder, other)
        await fetch(self, job_id, shard, other, theirs)
        file.path.write_bytes(theirs.read())

    put(AccountCollector, "fetch", fetch_another)
    _matched_by_position()


def _matched_by_position() -> None:
    put(answers, "_in_order", lambda elements, _: list(elements))


def _part_taken_as_a_whole() -> None:
    put(AnswerFile, "is_complete", property(lambda self: self.size > 0))


def _deleted_after_the_first_answer() -> None:
    is_here = AccountCollection.is_here

    async def here_then_delete(self: AccountCollection, batch: Batch) -> None:
        await is_here(self, batch)
        job = self._store.job(batch.job_id)
        for shard in {each.shard for each in job.batches if each.shard}:
            await AccountCollector(self._store.client(job)).forget(job.id, shard)

    put(AccountCollection, "is_here", here_then_delete)


def _collected_again_for_the_next_batch() -> None:
    read = AnswerFile.read
    held: list[bytes] = []

    def read_the_one_before(self: AnswerFile) -> bytes:
        held.append(read(self))
        return held[-2] if len(held) > 1 else held[-1]

    put(AnswerFile, "read", read_the_one_before)
    _matched_by_position()


ACCOUNT_VARIANTS = (
    Variant("answer fetched for another number", "account", Breach.WRONG, _fetched_for_another_number),
    Variant("part of an answer taken as a whole", "account", Breach.MISLABELLED, _part_taken_as_a_whole),
    Variant("copies deleted after the first answer", "account", Breach.LOST, _deleted_after_the_first_answer),
    Variant("answer collected again for the next batch", "account", Breach.WRONG, _collected_again_for_the_next_batch),
)


def die_in_the_middle(marker: Path) -> None:
    """Kill this process, once, when the first blocks of an answer are on the disk."""
    write = AnswerFile.write

    def written(self: AnswerFile, block: bytes) -> None:
        write(self, block)
        if self.size >= 3 * collector.FLUSHED_BYTES and not marker.exists():
            marker.touch()
            die()

    put(AnswerFile, "write", written)
