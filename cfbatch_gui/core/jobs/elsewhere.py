"""Jobs that were begun elsewhere: by curl or by a Worker, known by a request id and by what the answer says; or by
another computer, which has handed over with each shard which text is where in which request, without the texts. They
are laid out here in the job's folder, with the file that was sent or with names.
"""

import asyncio
import gzip
import hashlib
import json
import re
import sqlite3
import uuid
import zlib
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import msgspec

from cfbatch_gui.core.errors import ReplyError, ServiceRefused, UsageError
from cfbatch_gui.core.inputs.input_values import AttachedInput, Kind
from cfbatch_gui.core.inputs.layouts import check_mapping
from cfbatch_gui.core.inputs.recognise.recogniser import open_source
from cfbatch_gui.core.job_folder.filling import fill_named
from cfbatch_gui.core.job_folder.folder import JOB, JobFolder, SavedDraft
from cfbatch_gui.core.job_folder.schema import INDEX_OF_REQUESTS, transaction
from cfbatch_gui.core.jobs.drafts import Drafts
from cfbatch_gui.core.jobs.plan import packing
from cfbatch_gui.core.jobs.states import Batch, BatchState, Job
from cfbatch_gui.core.jobs.store.data_folder import write_manifest
from cfbatch_gui.core.jobs.store.job_store import JobStore
from cfbatch_gui.core.jobs.store.submissions import submission_of
from cfbatch_gui.core.messages import message
from cfbatch_gui.core.workers_ai import answers
from cfbatch_gui.core.workers_ai.collector import NO_ROOM_SENTENCE, NOT_THERE, AccountCollector, ListedShard

if TYPE_CHECKING:
    from cfbatch_gui.core.jobs.run.runner import Runner

_NOT_THE_FILE = message("is_not_file_was_sent_or")
_SHORTEST_ID: Final = 4  # characters of a pasted id


def read_pasted_job(text: str) -> answers.Waiting:
    """A request id, or an answer that holds one, with or without the v4 envelope; what stands around the JSON is passed
    over. `model` is "" when the text did not say. Raises UsageError.
    """
    found, model = (re.search(rf'"{name}"\s*:\s*"([^"]+)"', text) for name in ("request_id", "model"))
    word = found[1] if found else text.strip().strip("\"'`“”‘’")
    is_id = len(word) >= _SHORTEST_ID and answers.is_request_id(word)
    if not is_id or word.startswith(("{", "[", "<", "http://", "https://")):
        raise UsageError(message("holds_no_request_id_paste_id"))
    return answers.Waiting("queued", word, model[1] if found and model else "")


def lay_out(folder: JobFolder, job: Job, finished: answers.Finished) -> tuple[Kind, list[int]]:
    """Write down which request each item belongs to, by the answer; its kind, and how many items each request has.
    Raises ReplyError when it does not fit the file.
    """
    elements = _in_order(finished.elements)
    held = [answers.what_it_holds(element) for element in elements]
    kinds = {answered.kind for answered in held if answered is not None}
    if len(kinds) > 1:
        raise ReplyError(message("answer_both_scores_vectors_such_job"))
    kind = kinds.pop() if kinds else job.kind
    if job.source_name and kind is not job.kind:
        raise ReplyError(_NOT_THE_FILE, detail=f"it was read for {job.kind}")
    counts = [1 if answered is None else answered.count for answered in held]
    if job.source_name:
        counts = _counts_of_file(folder, kind, held)
    references = list(enumerate(_references(job.id, elements), start=1))
    requests = tuple((number, reference, 1, number - 1) for number, reference in references)
    places = [(number, position) for number, count in enumerate(counts, start=1) for position in range(count)]
    if not job.source_name:
        items = tuple(
            (item, number, position + 1, number, position) for item, (number, position) in enumerate(places, start=1)
        )
        sent = {number: element.external_reference or "" for number, element in enumerate(elements, start=1)}
        lay_out_names(folder, kind, Layout(job, requests, items), sent, {JOB: folder.fact(JOB)})
        return kind, counts
    order = "query_no, position" if kind is Kind.RANK else "item_no"
    with folder.open() as database, transaction(database):
        found = database.execute(f"SELECT item_no, query_no, position FROM items ORDER BY {order}").fetchall()  # noqa: S608  # two constants
        # This program would send long texts in parts; the attached job sent every text whole.
        database.execute("DELETE FROM parts")
        items = tuple((*item, *place) for item, place in zip(found, places, strict=True))
        _write(database, Layout(job, requests, items))
    return kind, counts


def by_id_alone(finished: answers.Finished) -> answers.Finished:
    """The answer to a job that was made elsewhere, as it is matched to the requests that were laid out by it. Raises
    ReplyError.
    """
    plain = tuple(
        msgspec.structs.replace(element, id=index, external_reference=None)
        for index, element in enumerate(_in_order(finished.elements))
    )
    return answers.Finished(plain, finished.tokens)


def _in_order(elements: Sequence[answers.Element]) -> list[answers.Element]:
    """By id, which counts the requests; a single element needs none."""
    if len(elements) == 1 and elements[0].id is None:
        return list(elements)
    placed: dict[int, answers.Element] = {}
    for element in elements:
        if element.id is None or not 0 <= element.id < len(elements) or element.id in placed:
            raise ReplyError(message("results_job_do_not_say_request"))
        placed[element.id] = element
    return [placed[index] for index in range(len(elements))]


def _counts_of_file(folder: JobFolder, kind: Kind, held: Sequence[answers.Expected | None]) -> list[int]:
    """Items of each request. Of a request that the service failed at, the answer does not say how many it had."""
    known = sum(answered.count for answered in held if answered is not None)
    failed = sum(answered is None for answered in held)
    with folder.open(read_only=True) as database:
        rows = database.execute("SELECT count(*) FROM items GROUP BY query_no ORDER BY query_no")
        of_queries = [contexts for (contexts,) in rows]
    items = sum(of_queries)
    if kind is Kind.RANK:
        fits = len(of_queries) == len(held) and all(
            answered is None or answered.count == contexts for answered, contexts in zip(held, of_queries, strict=True)
        )
    else:  # of one that failed the rest is taken, of several one text each
        fits = items - known == failed if failed != 1 else items > known
    if not fits:
        raise ReplyError(_NOT_THE_FILE, detail=f"{len(held)} requests with {known} results, and {items} texts")
    if kind is Kind.RANK:
        return of_queries
    return [(items - known) // failed if answered is None else answered.count for answered in held]


def _references(job_id: str, elements: Sequence[answers.Element]) -> list[str]:
    """The references that were sent, as far as each is there and is one request's alone; else our own."""
    theirs = Counter(element.external_reference for element in elements)
    return [
        sent if sent and theirs[sent] == 1 else f"{job_id}-{number}"
        for number, sent in enumerate((element.external_reference for element in elements), start=1)
    ]


VERSION: Final = 1
_MOST_BYTES: Final = 256 << 20  # of JSON
# Rows of `data.db`. Of an item: its number, query, position among its contexts, request and position in it.
Request = tuple[int, str, int, int]
Item = tuple[int, int | None, int, int | None, int | None]
Part = tuple[int, int, int, int, int | None, int | None]


class Layout(msgspec.Struct, frozen=True):
    """A shard. `job` has its batches, and of all else what another computer can use; paths are names of files."""

    job: Job
    requests: tuple[Request, ...]
    items: tuple[Item, ...]
    repeats: tuple[tuple[int, int], ...] = ()
    parts: tuple[Part, ...] = ()
    draft: SavedDraft | None = None
    version: int = VERSION


_decoder: Final = msgspec.json.Decoder(Layout)
_OF_SHARD: Final = "SELECT request_no FROM requests WHERE batch IN (SELECT value FROM json_each(:batches))"
_PARTED: Final = f"SELECT item_no FROM parts WHERE request_no IN ({_OF_SHARD})"  # noqa: S608 - constants, here and below
_REQUESTS: Final = f"SELECT request_no, reference, batch, position FROM requests WHERE request_no IN ({_OF_SHARD})"  # noqa: S608
_ITEMS: Final = f"""
SELECT item_no, query_no, position, request_no, request_position FROM items
WHERE request_no IN ({_OF_SHARD}) OR item_no IN ({_PARTED})
    OR item_no IN (SELECT item_no FROM repeats WHERE first IN ({_PARTED}))
ORDER BY item_no
"""  # noqa: S608
_OF_ITEMS: Final = "WHERE item_no IN (SELECT value FROM json_each(:items))"
_REPEATS: Final = f"SELECT item_no, first FROM repeats {_OF_ITEMS}"  # noqa: S608
_PARTS: Final = f"SELECT item_no, part, start, stop, request_no, request_position FROM parts {_OF_ITEMS}"  # noqa: S608


def layout_of(folder: JobFolder, job: Job, batches: Sequence[Batch]) -> bytes:
    """The layout of some batches of a job, gzipped. Raises DataError."""
    values = {"batches": json.dumps([batch.number for batch in batches])}
    with folder.open(read_only=True) as database:

        def rows(statement: str) -> tuple[Any, ...]:
            return tuple(database.execute(statement, values))

        requests, items = rows(_REQUESTS), rows(_ITEMS)
        values["items"] = json.dumps([item[0] for item in items])
        layout = Layout(
            _told(job, batches), requests, items, rows(_REPEATS), rows(_PARTS), _without_paths(folder.draft())
        )
    return gzip.compress(msgspec.json.encode(layout, enc_hook=str), mtime=0)


def _told(job: Job, batches: Sequence[Batch]) -> Job:
    told = Job(job.id, job.name, job.kind, job.model, "", job.created_at, replace(job.options, collect_in_account=None))
    theirs = (
        Batch(
            *(job.id, batch.number, BatchState.QUEUED, batch.requests, batch.texts, batch.bytes, batch.sha256),
            request_id=batch.request_id,
            sent_at=batch.sent_at,
        )
        for batch in batches
    )
    return replace(told, sent_at=job.sent_at, batches=tuple(theirs))


def _without_paths(draft: SavedDraft | None) -> SavedDraft | None:
    if draft is None:
        return None
    second = Path(draft.second_path).name if draft.second_path else ""
    return msgspec.structs.replace(draft, path=Path(draft.path).name, second_path=second)


def read_layout(data: bytes) -> Layout:
    """Read what was handed over, perhaps by a newer version. Raises ReplyError."""
    unpacker = zlib.decompressobj(zlib.MAX_WBITS | 16)
    try:
        layout = _decoder.decode(unpacker.decompress(data, _MOST_BYTES))
    except (ValueError, RecursionError, zlib.error) as error:  # also of one that is too large, or not whole
        raise ReplyError(message("what_was_handed_over_job_cannot"), detail=str(error)) from error
    if layout.version != VERSION:
        raise ReplyError(message("job_was_handed_over_another_version"))
    return layout


def read_as_sent(sent: SavedDraft | None, inputs: AttachedInput) -> AttachedInput:
    """The same files, read as where they were sent from; runs long. Raises UsageError when their columns are others,
    InputError.
    """
    second = inputs.second
    if sent is None or bool(sent.second_path) is not (second is not None):
        raise UsageError(_NOT_THE_FILE, detail="as one file, or with a second one")
    source = open_source(inputs.source.path, sent.options)
    second = open_source(second.path, sent.second_options) if second is not None else None
    if check_mapping(sent.mapping, source, second):
        raise UsageError(_NOT_THE_FILE, detail="its columns are others")
    return AttachedInput(source, sent.mapping, second)


def lay_out_file(folder: JobFolder, job: Job, layout: Layout) -> None:
    """Have the items of a filled draft wait for the answers to the batches; runs long. Texts are compared by the hash
    of each body. Raises UsageError for another file.
    """
    packing.plan(folder, job)  # cuts long texts to parts, as was done before they were sent
    with folder.open() as database, transaction(database):
        ours = {row[0]: row for row in database.execute("SELECT item_no, query_no, position FROM items")}
        if any(ours.get(item[0]) != item[:3] for item in layout.items):
            raise UsageError(_NOT_THE_FILE, detail="its rows are others")
        _write(database, layout)
        for batch in layout.job.batches:
            body = packing.body_in(database, job, batch)
            if hashlib.sha256(body).hexdigest() != batch.sha256:
                raise UsageError(_NOT_THE_FILE, detail="its texts are others")


def lay_out_names(
    folder: JobFolder, kind: Kind, layout: Layout, references: Mapping[int, str], facts: dict[str, object] | None = None
) -> None:
    """Fill the job's data with names for the texts, which say where each stands in the file. Raises DataError."""
    items: Sequence[Item] = layout.items
    if kind is Kind.RANK:
        items = sorted(items, key=lambda item: (item[1] or 0, item[2]))

    def named(item: Item) -> tuple[str, ...]:
        number, query, place, request, _ = item
        names = (f"Query {query}", f"Query {query} · Candidate {place}") if kind is Kind.RANK else (f"Text {number}",)
        return *names, references.get(request or 0, "")

    fill_named(folder, kind, map(named, items), facts)
    with folder.open() as database, transaction(database):
        _write(database, layout, {item[0]: number for number, item in enumerate(items, start=1)})


def _write(database: sqlite3.Connection, layout: Layout, renumbered: Mapping[int, int] | None = None) -> None:
    new = renumbered or {item[0]: item[0] for item in layout.items}
    database.execute("UPDATE items SET request_no = NULL, request_position = NULL")
    database.execute("DELETE FROM parts WHERE request_no IS NOT NULL")
    for table in ("requests", "repeats"):
        database.execute(f"DELETE FROM {table}")  # noqa: S608 - one of two constants
    database.executemany(
        "UPDATE items SET request_no = ?, request_position = ? WHERE item_no = ?",
        ((request, position, new[number]) for number, _, _, request, position in layout.items),
    )
    database.executemany(
        "INSERT INTO requests(request_no, reference, batch, position) VALUES(?, ?, ?, ?)", layout.requests
    )
    database.executemany(
        "INSERT OR REPLACE INTO repeats VALUES(?, ?)",
        ((new[item], new[first]) for item, first in layout.repeats if first in new),
    )
    database.executemany(
        "INSERT OR REPLACE INTO parts(item_no, part, start, stop, request_no, request_position)"
        " VALUES(?, ?, ?, ?, ?, ?)",
        ((new[item], *part) for item, *part in layout.parts),
    )
    database.execute(INDEX_OF_REQUESTS)


@dataclass(frozen=True, slots=True)
class AccountJob:
    """A job in the account. `at` is when its last shard was handed over, in seconds since 1970, UTC.

    `is_here` is whether this computer has it too.
    """

    id: str
    title: str
    kind: Kind
    model: str
    batches: int
    shards: tuple[int, ...]
    at: float
    is_here: bool


class JobsElsewhere:
    """For the loop's thread. What calls the account raises UserError as `AccountCollector`, and UsageError for a
    connection without a collecting room.
    """

    def __init__(self, store: JobStore, drafts: Drafts, runner: "Runner") -> None:
        self._store, self._drafts, self._runner = store, drafts, runner
        self._beginning = asyncio.Lock()  # the same id may be added twice at the same time

    async def attach(
        self, connection_id: str, pasted: str, *, usual_model: str, name: str = "", inputs: AttachedInput | None = None
    ) -> Job:
        """Add a job by its request id or the whole answer, and have it watched. `usual_model` counts where that names
        none. With `inputs` rows are matched by the ids of the answer, else texts get names. Raises UserError; no job
        is left then.
        """
        found, now = read_pasted_job(pasted), self._runner.clock()
        check_is_new(self._store, connection_id, found.request_id)
        kind = inputs.mapping.kind if inputs else Kind.RANK
        source_name = inputs.source.path.stem if inputs else ""
        name = name or source_name or f"Added job, {datetime.fromtimestamp(now):%Y-%m-%d %H:%M}"
        mark = self._store.client_for(connection_id).connection.account_mark
        job = await self._store.on_disk(self._drafts.create, kind, name, found.model or usual_model, connection_id)
        batch = Batch(job.id, 1, BatchState.QUEUED, requests=0, texts=0, bytes=0, sent_at=now, account_mark=mark)
        batch = replace(batch, attempt=uuid.uuid4().hex, request_id=found.request_id, changed_at=now)
        if inputs is not None:
            fill: Callable[[], object] = partial(
                self._drafts.load, job.id, inputs.source, inputs.mapping, inputs.second
            )
        else:
            fill = partial(fill_named, self._store.folder(job.id), kind, ())
        check = partial(check_is_new, self._store, connection_id, found.request_id)
        changes = {"attached": True, "sent_at": now, "batches": (batch,)}
        return await self._begin(job.id, asyncio.to_thread(fill), check=check, **changes)

    async def _begin(
        self, job_id: str, filling: Awaitable[object], *, check: Callable[[], None] = lambda: None, **changes: Any
    ) -> Job:
        """Have a draft watched as sent, once it is filled and `check` passes; it is gone again when that fails."""

        def begun(job: Job) -> Job:
            return replace(job, is_sent=True, **changes)

        try:
            await filling
            async with self._beginning:
                check()
                job = begun(self._store.job(job_id))
                await asyncio.to_thread(write_manifest, self._store.folder(job_id), job)
                lines = [submission_of(job, batch, batch.changed_at) for batch in job.batches]
                await self._store.on_disk(self._store.write_down, *lines)
                await self._store.change(job_id, begun)
        except BaseException:
            with suppress(UsageError):  # a job that was begun meanwhile stays
                await self._store.on_disk(self._drafts.discard, job_id)
            raise
        return await self._runner.carry_on(job_id)

    async def listed(self, connection_id: str) -> tuple[AccountJob, ...]:
        """The jobs in the account, the last that was handed over first."""
        shards: dict[str, list[ListedShard]] = {}
        async for each in (await self._room(connection_id)).shards():
            shards.setdefault(each.job, []).append(each)
        here = {job.id for job in self._store.jobs() if job.is_sent}
        jobs = [_account_job(job_id, found, is_here=job_id in here) for job_id, found in shards.items()]
        return tuple(sorted(jobs, key=lambda job: job.at, reverse=True))

    async def take_over(self, connection_id: str, found: AccountJob, inputs: AttachedInput | None = None) -> Job:
        """Watch and fetch a job that another computer has sent; its rows come from `inputs`, read as they were there,
        or have names. Raises UsageError for a job that is here, another file, or one that is gone.
        """
        await self._check_is_new(found.id)
        room = await self._room(connection_id)
        layouts = [await _layout(room, found.id, shard) for shard in found.shards]
        layout = _joined(found, layouts, self._runner.clock())
        theirs, items = layout.job, layout.items
        if inputs is not None and inputs.mapping.kind is not theirs.kind:
            raise UsageError(message("file_is_read_another_kind_result"))
        names = theirs.kind, theirs.name, theirs.model
        job = await self._store.on_disk(self._drafts.create, *names, connection_id, found.id)
        return await self._begin(
            job.id,
            self._fill(job, layout, inputs),
            taken_over=True,
            name=theirs.name,
            options=theirs.options,
            created_at=theirs.created_at,
            sent_at=theirs.sent_at,
            queries=len({item[1] for item in items} - {None}),
            texts=len(items),
            batches=theirs.batches,
        )

    async def remove(self, connection_id: str, found: AccountJob) -> None:
        """Delete a job from the account; answers that nobody has fetched are lost with it."""
        room = await self._room(connection_id)
        for shard in found.shards:
            await room.forget(found.id, shard)

    async def _room(self, connection_id: str) -> AccountCollector:
        room = AccountCollector(self._store.client_for(connection_id))
        if not (await room.greeting()).collects:
            raise UsageError(NO_ROOM_SENTENCE)
        return room

    async def _check_is_new(self, job_id: str) -> None:
        try:
            known = self._store.job(job_id)
        except UsageError:
            return
        if known.is_sent:
            raise UsageError(message("job_name_is_on_computer_already", name=known.name))
        await self._store.on_disk(self._drafts.discard, job_id)  # an earlier call was cut short

    async def _fill(self, job: Job, layout: Layout, inputs: AttachedInput | None) -> None:
        folder = self._store.folder(job.id)
        if inputs is None:
            references = {row[0]: row[1] for row in layout.requests}
            await asyncio.to_thread(lay_out_names, folder, job.kind, layout, references)
            return
        inputs = await asyncio.to_thread(read_as_sent, layout.draft, inputs)
        await asyncio.to_thread(self._drafts.load, job.id, inputs.source, inputs.mapping, inputs.second)
        sent = replace(self._store.job(job.id), options=layout.job.options, batches=layout.job.batches)
        await asyncio.to_thread(lay_out_file, folder, sent, layout)


def check_is_new(store: JobStore, connection: str, request_id: str) -> None:
    """Raise UsageError for an id that another batch has already: the answer to one is not another's."""
    if job := store.job_with(connection, request_id):
        raise UsageError(message("job_name_request_id_already", name=job.name))


async def _layout(room: AccountCollector, job_id: str, shard: int) -> Layout:
    try:
        layout = await asyncio.to_thread(read_layout, await room.layout(job_id, shard))
        order = await room.order(job_id, shard)
    except ServiceRefused as error:
        if error.code != NOT_THERE:
            raise
        raise UsageError(message("job_is_not_your_account_any")) from error
    if {(each.number, each.request_id) for each in layout.job.batches} != set(order.batches):
        raise ReplyError(message("what_was_handed_over_job_contradicts"))
    return layout


def _account_job(job_id: str, shards: Sequence[ListedShard], *, is_here: bool) -> AccountJob:
    first = min(shards, key=lambda shard: shard.shard)
    return AccountJob(
        id=job_id,
        title=first.title,
        kind=Kind.EMBED if first.kind == Kind.EMBED else Kind.RANK,
        model=first.model,
        batches=sum(shard.batches for shard in shards),
        shards=tuple(sorted(shard.shard for shard in shards)),
        at=max(shard.at for shard in shards),
        is_here=is_here,
    )


def _joined(found: AccountJob, layouts: Sequence[Layout], now: float) -> Layout:
    """All shards in one: each batch once, of several the last; and each item once, of several the one in the shard that
    has its request. Raises UsageError.
    """
    requests: dict[int, Request] = {}
    for row in chain.from_iterable(layout.requests for layout in layouts):
        if requests.setdefault(row[0], row) != row:
            raise UsageError(message("parts_job_were_refused_sent_again"))
    items = sorted(chain.from_iterable(layout.items for layout in layouts), key=lambda item: item[3] is not None)
    batches = {
        batch.number: replace(
            batch, attempt=f"{found.id}-{shard}-{batch.number}", changed_at=now, shard=shard, handed_over_at=now
        )
        for shard, layout in zip(found.shards, layouts, strict=True)
        for batch in layout.job.batches
    }
    return msgspec.structs.replace(
        layouts[0],
        job=replace(layouts[0].job, batches=tuple(batches[number] for number in sorted(batches))),
        requests=tuple(requests.values()),
        items=tuple(sorted({item[0]: item for item in items}.values())),
        repeats=tuple(chain.from_iterable(layout.repeats for layout in layouts)),
        parts=tuple(chain.from_iterable(layout.parts for layout in layouts)),
    )
