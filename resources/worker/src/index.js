// A door to Workers AI in your own Cloudflare account. It takes what the REST API takes, checks a shared secret,
// and hands on what the binding answers, unchanged. Nothing is logged or kept here.
//
//   POST /ai/run/{model}?queueRequest=true   {"requests": […]}       submits a batch
//   POST /ai/run/{model}?queueRequest=true   {"request_id": "…"}     asks for a batch
//   POST /ai/run/{model}                     {"text": […]}           runs one request at once
//   GET  /                                                           {"ok": true}
//
// Every refusal is {"error": {"code": …, "message": "…"}}, with the codes of Workers AI.

const TOO_LARGE_BYTES = 10_000_000; // the limit of the Batch API: the whole body must be smaller
const NOT_KEPT = { "cache-control": "no-store" };
const MODEL = /^@cf\/[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*$/i;

// The HTTP status that Workers AI gives with its codes.
const STATUS = new Map([
  ...[3003, 3030, 5004, 5006, 5007, 8007].map((code) => [code, 400]),
  ...[3023, 3041, 5016, 5018, 5035].map((code) => [code, 403]),
  ...[3042, 5504].map((code) => [code, 404]),
  ...[3007, 3008, 3046].map((code) => [code, 408]),
  [5028, 410],
  [3006, 413],
  ...[3021, 3036, 3040, 4006].map((code) => [code, 429]),
  [5001, 500],
]);

export class Refusal extends Error {
  constructor(status, code, message, headers = {}) {
    super(message);
    Object.assign(this, { status, code, headers });
  }
}

export function badInput(message) {
  return new Refusal(400, 5006, message);
}

export default { fetch: (request, env) => guard(request, env, answer) };

// Lets a request with the secret in, and makes an answer of every refusal.
export async function guard(request, env, handler) {
  try {
    await checkSecret(request, env);
    return await handler(request, env);
  } catch (problem) {
    if (!(problem instanceof Refusal)) throw problem;
    const { status, code, message, headers } = problem;
    return Response.json({ error: { code, message } }, { status, headers: { ...headers, ...NOT_KEPT } });
  }
}

export function tell(fact) {
  return Response.json(fact, { headers: NOT_KEPT });
}

export async function answer(request, env) {
  const url = new URL(request.url);
  if (url.pathname === "/") {
    checkMethod(request, "GET");
    return tell({ ok: true });
  }
  if (!url.pathname.startsWith("/ai/run/")) throw new Refusal(404, 7003, "There is nothing at this address.");
  checkMethod(request, "POST");
  if (!env.AI) throw new Refusal(400, 0, "This Worker has no binding to Workers AI. Add one under the name AI.");
  const model = url.pathname.slice("/ai/run/".length);
  checkModel(model, env);
  const queue = url.searchParams.get("queueRequest") === "true";
  const body = await readBody(request, TOO_LARGE_BYTES);
  checkBody(body, queue);
  return run(env.AI, model, body, queue && "requests" in body);
}

async function run(ai, model, body, queueRequest) {
  let reply, words;
  try {
    // The raw response passes through piece by piece. Read into this Worker, an answer of some ten megabytes would
    // fill its memory, and a batch that is paid for could not be collected.
    reply = await ai.run(model, body, { ...(queueRequest && { queueRequest }), returnRawResponse: true });
    if (reply.ok) return handOn(reply);
    words = await reply.text();
  } catch (problem) {
    words = problem instanceof Error ? problem.message : String(problem);
  }
  throw serviceRefusal(reply?.status ?? 502, words, reply?.headers.get("retry-after"));
}

function handOn(reply) {
  const type = reply.headers.get("content-type") ?? "application/json";
  return new Response(reply.body, { status: reply.status, headers: { "content-type": type, ...NOT_KEPT } });
}

// The service's words have one of three forms: {"internalCode", "description"}, {"errors": [{"code", "message"}]}, and
// the text of an exception, "5006: …". Without a code it is open whether the service did what was asked: 502.
export function serviceRefusal(status, words, retryAfter) {
  let code = Number(/^\s*(\d{4,5}):/.exec(words)?.[1] ?? 0);
  let message = words.replace(/^\s*\d{4,5}:\s*/, "");
  try {
    const said = JSON.parse(words);
    const first = said.errors?.[0];
    code = Number(said.internalCode ?? first?.code) || 0;
    message = String(said.description ?? first?.message ?? words);
  } catch {
    // not JSON: the text of an exception
  }
  const fitting = STATUS.get(code) ?? (code && status >= 400 ? status : 502);
  return new Refusal(fitting, code, message, retryAfter ? { "retry-after": retryAfter } : {});
}

// Digests are compared, not the texts: they have one length, and comparing them tells nothing about the secret.
async function checkSecret(request, env) {
  const secret = (env.SHARED_SECRET ?? "").trim();
  if (!secret) {
    if (env.ALLOW_WITHOUT_SECRET === "yes") return;
    throw new Refusal(401, 10000, "This Worker has no secret yet. Give it one: npx wrangler secret put SHARED_SECRET");
  }
  const given = /^Bearer +(.+)$/i.exec(request.headers.get("authorization") ?? "")?.[1] ?? "";
  const digests = await Promise.all([secret, given].map(digest));
  if (!crypto.subtle.timingSafeEqual(...digests)) throw new Refusal(401, 10000, "The secret is missing or wrong.");
}

function digest(text) {
  return crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
}

export function checkMethod(request, ...allowed) {
  if (allowed.includes(request.method)) return;
  throw new Refusal(405, 10405, `Only ${allowed.join(", ")} works here.`, { allow: allowed.join(", ") });
}

export function checkModel(model, env) {
  if (!MODEL.test(model)) throw badInput("The address must end in a model's name, such as @cf/baai/bge-m3.");
  const allowed = (env.ALLOWED_MODELS ?? "").split(/[\s,]+/).filter(Boolean);
  if (allowed.length && !allowed.includes(model)) throw badInput("This Worker does not offer this model.");
}

export async function readBody(request, tooLarge) {
  const decoder = new TextDecoder("utf-8", { fatal: true });
  let size = 0;
  let text = "";
  try {
    for await (const piece of request.body ?? []) {
      size += piece.byteLength;
      if (size < tooLarge) text += decoder.decode(piece, { stream: true });
    }
    if (size < tooLarge) return JSON.parse(text + decoder.decode());
  } catch {
    throw badInput("The body is not JSON in UTF-8.");
  }
  throw new Refusal(413, 3006, `The body has ${size} bytes; it must have fewer than ${tooLarge}.`);
}

// A bare request that is queued is accepted, and fails later as a job.
function checkBody(body, queue) {
  if (body === null || typeof body !== "object" || Array.isArray(body) || !Object.keys(body).length) {
    throw badInput('The body must be an object: {"requests": […]}, {"request_id": "…"} or one request.');
  }
  if ("request_id" in body) {
    if (typeof body.request_id !== "string" || !body.request_id) throw badInput("request_id must be a text.");
  } else if ("requests" in body !== queue) {
    throw badInput("A list of requests goes with ?queueRequest=true, one bare request goes without.");
  } else if (queue && !(Array.isArray(body.requests) && body.requests.length)) {
    throw badInput("requests must be a list with at least one request.");
  }
}
