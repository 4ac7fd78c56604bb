// Workers AI behind the binding: the practice service, or, for the models @cf/scripted/…, the replies of a test.

import { WorkerEntrypoint } from "cloudflare:workers";

const ACCOUNT = "0123456789abcdef0123456789abcdef";
const BEFORE = '{"result":'.length; // what stands around a result in the service's envelope
const AFTER = ',"success":true,"errors":[],"messages":[]}'.length;

export class Ai extends WorkerEntrypoint {
  async run(model, inputs, options = {}) {
    return model.startsWith("@cf/scripted/") ? this.scripted(inputs) : this.practice(model, inputs, options);
  }

  async practice(model, inputs, { queueRequest }) {
    const address = `${this.env.PRACTICE}/accounts/${ACCOUNT}/ai/run/${model}`;
    const reply = await fetch(address + (queueRequest ? "?queueRequest=true" : ""), {
      method: "POST",
      headers: { authorization: "Bearer practice", "content-type": "application/json" },
      body: JSON.stringify(inputs),
    });
    if (reply.ok) return withoutEnvelope(reply);
    const { code, message } = (await reply.json()).errors[0];
    const body = { internalCode: code, name: "AiError", message, description: message };
    return Response.json(body, { status: reply.status, headers: pick(reply.headers, "retry-after") });
  }

  async scripted(inputs) {
    const reply = await fetch(this.env.SCRIPTED, { method: "POST", body: JSON.stringify(inputs) });
    if (reply.headers.has("x-exception")) throw new Error(reply.headers.get("x-exception"));
    const headers = pick(reply.headers, "content-type", "content-length", "content-encoding", "retry-after");
    return new Response(reply.body, { status: reply.status, headers });
  }
}

// The answer of the REST API as the binding gives it: byte for byte what stands in "result", never held as a whole.
function withoutEnvelope(reply) {
  const length = Number(reply.headers.get("content-length")) - BEFORE - AFTER;
  const { readable, writable } = new FixedLengthStream(length);
  let skipped = 0;
  let held = new Uint8Array(0);
  const cut = new TransformStream({
    transform(piece, controller) {
      const rest = piece.subarray(Math.min(piece.byteLength, BEFORE - skipped));
      skipped += piece.byteLength - rest.byteLength;
      const bytes = new Uint8Array(held.byteLength + rest.byteLength);
      bytes.set(held);
      bytes.set(rest, held.byteLength);
      const end = Math.max(0, bytes.byteLength - AFTER);
      held = bytes.slice(end);
      if (end) controller.enqueue(bytes.subarray(0, end));
    },
  });
  reply.body.pipeThrough(cut).pipeTo(writable).catch(() => {});
  const headers = { "content-type": "application/json", "content-length": String(length) };
  return new Response(readable, { status: reply.status, headers });
}

function pick(headers, ...names) {
  return names.filter((name) => headers.has(name)).map((name) => [name, headers.get(name)]);
}

export default { fetch: () => new Response(null, { status: 404 }) };
