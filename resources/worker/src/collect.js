// The door, and beside it a room that collects. It is handed batches that were submitted, asks Workers AI for them
// until they are done, and keeps the answers in a bucket of your account until they are fetched. It never submits:
// asking costs nothing, so nothing that it repeats is paid for twice.
//
//   GET    /                                  {"ok": true, "collects": 1}
//   PUT    /collect/{job}/{shard}             {"model", "title", "kind", "first_wait", "longest_wait", "batches"}
//   GET    /collect/{job}/{shard}             what is stored, and whether more is to come
//   GET    /collect/{job}/{shard}/{number}    the answer to one batch, as it came
//   GET    /collect/{job}/{shard}/order       what was handed over
//   PUT    /collect/{job}/{shard}/layout      bytes that are kept beside the answers and never read here
//   GET    /collect/{job}/{shard}/layout
//   DELETE /collect/{job}/{shard}             removes all of it
//   GET    /collect?cursor=…                  everything that is handed over
//
// A shard is at most 100 batches of a job, and one instance of the workflow in rounds.js.

import { answer as openDoor, badInput, checkMethod, guard, readBody, Refusal, serviceRefusal, tell } from "./index.js";
import { checkOrder, isSameOrder, ORDER_BYTES, titlesOf } from "./orders.js";
import { ORDERS, placesOf } from "./storing.js";

export { Collect } from "./rounds.js";

const VERSION = 1; // of this room, for the program
const LAYOUT_BYTES = 20_000_000;
const PAGE = 200;
const ERROR_LENGTH = 300;
const PATH = /^\/collect\/([a-z0-9][a-z0-9-]{0,63})\/([1-9][0-9]{0,3})(?:\/(layout|order|[1-9][0-9]{0,5}))?$/;
const OVER = new Set(["complete", "errored", "terminated"]);
// Without no-transform, Cloudflare may compress an answer on its way; its length and its etag would then not be told.
const AS_STORED = { "cache-control": "no-store, no-transform" };

const ROUTES = {
  shard: { GET: tellState, PUT: takeOver, DELETE: remove },
  layout: { GET: sendLayout, PUT: keepLayout },
  order: { GET: tellOrder },
  number: { GET: sendAnswer },
};

export default { fetch: (request, env) => guard(request, env, answer) };

async function answer(request, env) {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/") {
    checkMethod(request, "GET");
    return tell({ ok: true, collects: VERSION });
  }
  const [found, job, shard, part] = PATH.exec(pathname) ?? [];
  if (!found && pathname !== "/collect") return openDoor(request, env);
  const routes = found ? (ROUTES[part ?? "shard"] ?? ROUTES.number) : { GET: listOrders };
  checkMethod(request, ...Object.keys(routes));
  if (!env.BUCKET || !env.COLLECT) {
    throw new Refusal(400, 0, "The bucket or the workflow is missing. Run: npx wrangler deploy --config collect.jsonc");
  }
  const places = placesOf(job, shard);
  const cursor = searchParams.get("cursor");
  try {
    return await routes[request.method]({ request, env, job, shard, number: part, places, cursor });
  } catch (problem) {
    if (problem instanceof Refusal) throw problem;
    throw new Refusal(502, 0, `Cloudflare's storage or workflow failed: ${words(problem)}`);
  }
}

// Each step may be the last, and all of it may come again: the order is stored once, the instance is made once, and one
// that is over without having said so begins anew.
async function takeOver({ request, env, job, shard, places }) {
  const order = checkOrder(await readBody(request, ORDER_BYTES), env);
  await keepOrder(env.BUCKET, places.order, order);
  const id = instanceId(job, shard);
  let instance;
  try {
    await env.COLLECT.createBatch([{ id, params: { job, shard } }]); // leaves out one that is there already
    instance = await findInstance(env, id);
  } catch (problem) {
    instance = await findInstance(env, id);
    if (!instance) throw problem;
  }
  const { status } = (await instance?.status()) ?? {};
  if (OVER.has(status) && !(await env.BUCKET.head(places.ended))) await instance.restart();
  return tell({ ok: true });
}

async function keepOrder(bucket, key, order) {
  const options = { onlyIf: { etagDoesNotMatch: "*" }, customMetadata: titlesOf(order) };
  if (await bucket.put(key, JSON.stringify(order), options)) return;
  const earlier = await bucket.get(key);
  if (!earlier) throw new Refusal(502, 0, "What was handed over under this name is just being removed.");
  if (!isSameOrder(order, await earlier.json())) {
    throw new Refusal(409, 10409, "Other batches were handed over under this name.");
  }
}

async function tellState({ env, job, shard, places }) {
  let stored = await listStored(env.BUCKET, places);
  let state = "ended";
  let error = "";
  if (!stored.hasEnded) {
    ({ state, error } = await instanceState(env, instanceId(job, shard)));
    if (state !== "collecting") {
      stored = await listStored(env.BUCKET, places); // it may have ended between the two questions
      if (stored.hasEnded) [state, error] = ["ended", ""];
      else await findOrder(env.BUCKET, places);
    }
  }
  const left = stored.hasEnded ? ((await (await env.BUCKET.get(places.ended))?.json())?.left ?? []) : [];
  return tell({ state, error, batches: stored.batches, left });
}

async function listStored(bucket, places) {
  const batches = new Map();
  let hasEnded = false;
  for await (const { key, size, httpEtag } of listAll(bucket, places.answers)) {
    const [name, refusal] = key.slice(places.answers.length).split(".");
    if (name === "ended") hasEnded = true;
    else if (!refusal) batches.set(name, { number: Number(name), size, etag: httpEtag });
    else if (!batches.has(name)) batches.set(name, { number: Number(name), refused: true });
  }
  return { hasEnded, batches: [...batches.values()] };
}

async function* listAll(bucket, prefix) {
  let cursor;
  do {
    const page = await bucket.list({ prefix, cursor });
    yield* page.objects;
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
}

async function instanceState(env, id) {
  const instance = await findInstance(env, id);
  if (!instance) return { state: "missing", error: "" };
  const { status, error } = await instance.status();
  if (!OVER.has(status)) return { state: "collecting", error: "" };
  if (status !== "errored") return { state: "failed", error: `The workflow is over: ${status}.` };
  return { state: "failed", error: words(error).slice(0, ERROR_LENGTH) };
}

async function findInstance(env, id) {
  try {
    return await env.COLLECT.get(id);
  } catch (problem) {
    if (/not.?found/i.test(words(problem))) return null;
    throw problem;
  }
}

async function findOrder(bucket, places) {
  return (await bucket.head(places.order)) ?? nothing();
}

async function tellOrder({ env, places }) {
  const { model, title, kind, batches } = await ((await env.BUCKET.get(places.order)) ?? nothing()).json();
  return tell({ model, title, kind, batches });
}

async function keepLayout({ request, env, places }) {
  const size = Number(request.headers.get("content-length") ?? -1);
  if (size < 0) throw new Refusal(411, 10411, "The size must be announced, in Content-Length.");
  if (size > LAYOUT_BYTES) throw new Refusal(413, 3006, `The layout has more than ${LAYOUT_BYTES} bytes.`);
  if (size === 0) throw badInput("The layout is empty.");
  await env.BUCKET.put(places.layout, request.body);
  return tell({ ok: true });
}

async function sendLayout({ env, places }) {
  return send((await env.BUCKET.get(places.layout)) ?? nothing(), "application/octet-stream");
}

async function sendAnswer({ request, env, number, places }) {
  const key = places.answer(number);
  const found = await env.BUCKET.get(key);
  if (found) return send(found, "application/json");
  const refusal = (await env.BUCKET.get(places.refusal(number))) ?? nothing();
  const { status, "retry-after": retryAfter } = refusal.customMetadata;
  throw serviceRefusal(Number(status), await refusal.text(), retryAfter);
}

function send(found, type) {
  const headers = new Headers({ "content-type": type, etag: found.httpEtag, ...AS_STORED });
  const { readable, writable } = new FixedLengthStream(found.size); // so that the length is told
  found.body.pipeTo(writable).catch(() => {}); // the receiver sees a body that was cut
  return new Response(readable, { headers });
}

// The order goes last: as long as it is there, a removal that was cut is seen to be unfinished, and can be repeated.
async function remove({ env, job, shard, places }) {
  const instance = await findInstance(env, instanceId(job, shard));
  if (instance && !OVER.has((await instance.status()).status)) await terminate(instance);
  const stored = [places.layout];
  for await (const { key } of listAll(env.BUCKET, places.answers)) stored.push(key);
  await env.BUCKET.delete(stored);
  await env.BUCKET.delete(places.order);
  return tell({ ok: true });
}

async function terminate(instance) {
  try {
    await instance.terminate();
  } catch (problem) {
    if (!OVER.has((await instance.status()).status)) throw problem;
  }
}

async function listOrders({ env, cursor }) {
  const options = { prefix: ORDERS, limit: PAGE, include: ["customMetadata"], ...(cursor && { cursor }) };
  const page = await env.BUCKET.list(options).catch((problem) => {
    throw cursor ? badInput("The cursor is not one that this address gave out.") : problem;
  });
  const shards = page.objects.map(({ key, uploaded, customMetadata: { title, kind, model, batches } }) => {
    const [, job, shard] = key.split("/");
    const at = Math.floor(uploaded.getTime() / 1000);
    return { job, shard: Number(shard), title: decodeURIComponent(title), kind, model, batches: Number(batches), at };
  });
  return tell({ shards, cursor: page.truncated ? page.cursor : "" });
}

function instanceId(job, shard) {
  return `${job}-${shard}`;
}

function nothing() {
  throw new Refusal(404, 10404, "Nothing is stored here.");
}

function words(problem) {
  return typeof problem === "string" ? problem : (problem?.message ?? "no reason was given");
}
