"""The practice service itself: from a route and a body to an answer, independent of HTTP."""

import hashlib
import hmac
import re
import threading
from collections.abc import Callable
from pathlib import Path

from cfbatch_gui.core.practice import practice_models
from cfbatch_gui.core.practice.bodies import Element, Poll, read_body
from cfbatch_gui.core.practice.inference import TooLongError, run_batch, run_one
from cfbatch_gui.core.practice.local_models import PracticeModel
from cfbatch_gui.core.practice.practice_models import ServedModel
from cfbatch_gui.core.practice.queue import Pace, Queue, State
from cfbatch_gui.core.practice.responses import Answer, RefusalError, bad_input, success, success_in_pieces
from cfbatch_gui.core.practice.routes import ModelSchema, Route, RunModel, SearchModels, VerifyToken
from cfbatch_gui.core.practice.vectorize.service import VectorizeService
from cfbatch_gui.core.workers_ai.limits import MAX_BODY_BYTES

_BEARER = re.compile(r"Bearer +([A-Za-z0-9._~+/-]+=*) *\Z", re.IGNORECASE)


class PracticeService:
    """Answers one request at a time per thread; every method blocks: call it in a worker thread.

    `token` "" accepts any well-formed bearer token. The model is loaded when it is first needed.
    """

    def __init__(
        self,
        folder: Path,
        pace: Pace,
        clock: Callable[[], float],
        token: str,
        *,
        load_model: Callable[[], PracticeModel],
        vectorize: VectorizeService,
    ) -> None:
        self._queue = Queue(folder)
        self._pace = pace
        self._clock = clock
        self._token = token
        self._load_model = load_model
        self._vectorize = vectorize
        self._engine: PracticeModel | None = None
        self._one_at_a_time = threading.Lock()  # limits memory to one answer of 50 MB, and loads the model once

    def authorize(self, authorization: str) -> None:
        """Check the Authorization header. Raises RefusalError: 400/9106 not a bearer token, 401/10000 a wrong one."""
        found = _BEARER.match(authorization)
        if found is None:
            raise RefusalError(400, (9106, "Missing or malformed Authorization header: a bearer token is needed"))
        if self._token and not hmac.compare_digest(found[1].encode(), self._token.encode()):
            raise RefusalError(401, (10000, "Authentication error"))

    def answer(self, route: Route, body: bytes, content_type: str) -> Answer:
        """Perform a route. Raises RefusalError; sqlite3.Error and OSError when what is kept cannot be written."""
        match route:
            case VerifyToken():
                message = (10000, "This API Token is valid and active")
                return success({"id": "practice", "status": "active"}, messages=[message])
            case ModelSchema(model):
                return success(_served(model).schema)
            case SearchModels():
                return self._search(route)
            case RunModel():
                return self._run(route, body)
        return self._vectorize.answer(route, body, content_type)

    def _search(self, route: SearchModels) -> Answer:
        with self._one_at_a_time:
            items = practice_models.search(route.search, self._model())
        start = (route.page - 1) * route.per_page
        page = items[start : start + route.per_page]
        counts = {"count": len(page), "page": route.page, "per_page": route.per_page, "total_count": len(items)}
        return success(page, result_info=counts)

    def _run(self, route: RunModel, body: bytes) -> Answer:
        served = _served(route.model)
        if len(body) > MAX_BODY_BYTES:
            raise RefusalError(
                413, (3006, f"Request is too large: {len(body)} bytes, the limit is {MAX_BODY_BYTES + 1}")
            )
        posted = read_body(body, served)
        if isinstance(posted, Poll):
            return self._poll(route, served, posted.request_id)
        if route.queue:  # a bare element too: it is accepted, and fails as a job
            request_id = self._queue.accept(route.account, served.name, body, self._clock())
            return _waiting(State.QUEUED, request_id, served)
        if not isinstance(posted, Element):
            raise bad_input("'requests' is for the queue: the address must end in ?queueRequest=true")
        return self._run_now(route, posted, body, served)

    def _run_now(self, route: RunModel, element: Element, body: bytes, served: ServedModel) -> Answer:
        try:
            with self._one_at_a_time:
                result = run_one(hashlib.sha256(body).hexdigest(), element, served, self._model())
        except TooLongError as problem:
            raise RefusalError(400, (3030, f"AiError: {problem.reason}")) from None
        self._queue.note_answer(route.account, served.name, body, self._clock())
        return success_in_pieces((result,))

    def _poll(self, route: RunModel, served: ServedModel, request_id: str) -> Answer:
        now = self._clock()
        accepted_at = self._queue.accepted_at(request_id, route.account, served.name, now)
        if accepted_at is None:
            raise _unknown_request()
        state = self._pace.state(now - accepted_at)
        if state is not State.DONE:
            return _waiting(state, request_id, served)
        body = self._queue.body(request_id, route.account, served.name, now)
        if body is None:
            raise _unknown_request()
        batch = read_body(body, served)
        if not isinstance(batch, tuple):
            raise RefusalError(500, (5001, "AiError: Model execution failed: the body had no 'requests'"))
        with self._one_at_a_time:
            return success_in_pieces(run_batch(request_id, batch, served, self._model()))

    def _model(self) -> PracticeModel:
        if self._engine is None:
            self._engine = self._load_model()
        return self._engine


def _served(name: str) -> ServedModel:
    model = practice_models.find(name)
    if model is None:
        raise RefusalError(400, (5007, f"No such model {name} or task"))
    return model


def _unknown_request() -> RefusalError:
    return RefusalError(400, (5504, "AiError: Request not found in queue"))


def _waiting(state: State, request_id: str, served: ServedModel) -> Answer:
    return success({"status": state, "request_id": request_id, "model": served.name})
