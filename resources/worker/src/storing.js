// Asks for one batch, and puts its answer into the bucket. An answer may have a hundred megabytes, and a Worker has 128
// of memory: it is passed on in pieces, and never parsed.

import { serviceRefusal } from "./index.js";

const PEEK_BYTES = 4096; // more than what is said of a batch that waits
const PART_BYTES = 8 * 1024 * 1024; // R2 wants at least 5 MiB, and the same for all parts but the last
const TAIL_BYTES = 64;
const REFUSAL_BYTES = 65_536;
// What the service says of a batch once and for all. Everything else may be otherwise at the next question.
const FINAL = new Set([3003, 3006, 3030, 5001, 5004, 5006, 5504]);
const CLOSING_BRACE = "}".charCodeAt(0);

export const ORDERS = "orders/";

// Where everything of a shard lies in the bucket.
export function placesOf(job, shard) {
  const name = `${job}/${shard}`;
  const answers = `answers/${name}/`;
  return {
    order: `${ORDERS}${name}`,
    layout: `layouts/${name}`,
    answers,
    ended: `${answers}ended`,
    answer: (number) => `${answers}${number}`,
    refusal: (number) => `${answers}${number}.refusal`,
  };
}

// {isDone}, with {isStored} for an answer and {copied}, the bytes that went through this Worker's memory; {isBusy} when
// the service wants to be left alone; {problem} when the answer came and could not be stored; {} when it is to wait.
export async function collect({ AI, BUCKET }, model, requestId, places, number) {
  let reply;
  try {
    reply = await AI.run(model, { request_id: requestId }, { returnRawResponse: true });
  } catch (problem) {
    const said = problem instanceof Error ? problem.message : String(problem);
    return judgeRefusal(BUCKET, places, number, 502, said);
  }
  const reader = reply.body?.getReader({ mode: "byob" });
  if (!reader) return {};
  try {
    if (!reply.ok) {
      const said = new TextDecoder().decode(await read(reader, REFUSAL_BYTES));
      return await judgeRefusal(BUCKET, places, number, reply.status, said, reply.headers.get("retry-after"));
    }
    const first = await read(reader, PEEK_BYTES);
    const key = places.answer(number);
    if (first.byteLength === PEEK_BYTES) return await store(BUCKET, key, reply, reader, first);
    return isWaiting(first) ? {} : await storeBytes(BUCKET, key, first);
  } catch (problem) {
    return { problem };
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function judgeRefusal(bucket, places, number, status, said, retryAfter = null) {
  const refusal = serviceRefusal(status, said, retryAfter);
  if (refusal.status === 429) return { isBusy: true };
  if (!FINAL.has(refusal.code)) return {};
  // The service may have forgotten a batch whose answer was stored in a step that was cut off.
  if (await bucket.head(places.answer(number))) return { isDone: true };
  const customMetadata = { status: String(status), ...(retryAfter && { "retry-after": retryAfter }) };
  await bucket.put(places.refusal(number), said, { customMetadata });
  return { isDone: true };
}

// Whether a whole body says that the batch waits. What cannot be read was cut, and is asked for again.
function isWaiting(bytes) {
  try {
    const body = JSON.parse(new TextDecoder().decode(bytes));
    const { status, request_id, responses, results } = body.result ?? body;
    const lists = [responses, results].filter(Array.isArray);
    if (lists.some((list) => list.length)) return false;
    return typeof status === "string" || (!lists.length && typeof request_id === "string");
  } catch {
    return true;
  }
}

async function storeBytes(bucket, key, bytes) {
  if (!isWhole(bytes)) return {};
  await bucket.put(key, bytes);
  return { isDone: true, isStored: true, copied: bytes.byteLength };
}

async function store(bucket, key, reply, reader, first) {
  const length = Number(reply.headers.get("content-length") ?? 0);
  if (length > PEEK_BYTES && !reply.headers.get("content-encoding")) {
    return passOn(bucket, key, length, reply.body, reader, first);
  }
  const part = await readPart(reader, first, new ArrayBuffer(PART_BYTES));
  return part.byteLength < PART_BYTES ? storeBytes(bucket, key, part) : storeInParts(bucket, key, reader, part);
}

// The runtime moves the bytes by itself, and nothing is stored of a body that is shorter than announced. Its end is
// looked at in the bucket.
async function passOn(bucket, key, length, body, reader, first) {
  const { readable, writable } = new FixedLengthStream(length);
  const kept = bucket.put(key, readable);
  const moved = (async () => {
    const writer = writable.getWriter();
    await writer.write(first);
    writer.releaseLock();
    reader.releaseLock();
    await body.pipeTo(writable);
  })();
  await Promise.all([kept, moved]);
  const tail = await bucket.get(key, { range: { suffix: TAIL_BYTES } });
  if (isWhole(new Uint8Array(await tail.arrayBuffer()))) return { isDone: true, isStored: true };
  await bucket.delete(key);
  return {};
}

async function storeInParts(bucket, key, reader, firstPart) {
  const upload = await bucket.createMultipartUpload(key);
  try {
    const parts = [];
    let part = firstPart;
    let tail = new Uint8Array(0);
    let copied = 0;
    while (part.byteLength) {
      parts.push(await upload.uploadPart(parts.length + 1, part));
      copied += part.byteLength;
      tail = new Uint8Array([...tail, ...part.subarray(-TAIL_BYTES)]).slice(-TAIL_BYTES);
      if (part.byteLength < PART_BYTES) break;
      part = await readPart(reader, new Uint8Array(0), part.buffer);
    }
    if (isWhole(tail)) {
      await upload.complete(parts);
      return { isDone: true, isStored: true, copied };
    }
  } catch (problem) {
    await upload.abort().catch(() => {});
    throw problem;
  }
  await upload.abort();
  return {};
}

function isWhole(bytes) {
  return bytes.findLast((byte) => byte > 32) === CLOSING_BRACE;
}

// At most so many bytes; fewer only at the end of the body.
async function read(reader, size) {
  const { value } = await reader.readAtLeast(size, new Uint8Array(size));
  return value ?? new Uint8Array(0);
}

// A part in that buffer, which is of the size of a part: what was read already, and what follows it.
async function readPart(reader, beginning, buffer) {
  const start = beginning.byteLength;
  new Uint8Array(buffer).set(beginning);
  const { value } = await reader.readAtLeast(PART_BYTES - start, new Uint8Array(buffer, start));
  return value ? new Uint8Array(value.buffer, 0, start + value.byteLength) : beginning;
}
