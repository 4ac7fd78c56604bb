// The collecting Worker with counted bindings, and with a service behind AI that answers at once. What is counted stays
// outside of the Worker: its bindings and its steps are wrapped here. GET /counts tells the counts.
//
// A request id says what comes: "{how often the batch waits}:{bytes of its answer}:{announced or chunked}:{any name}".

import room, { Collect as Collecting } from "../../resources/worker/src/collect.js";

const COUNTED = {
  classA: ["put", "createMultipartUpload", "list"],
  classB: ["get", "head"],
  free: ["delete"],
};
const CLASS_OF_PART = { uploadPart: "classA", complete: "classA", abort: "free" };
const KINDS = ["steps", "asks", "classA", "classB", "free", "mostInAStep"];
const [BEGIN, END] = ['{"responses":["', '"]}'].map((text) => new TextEncoder().encode(text));

const instances = {};
const worker = newTally();
const asked = new Map();

function newTally() {
  return Object.fromEntries(KINDS.map((kind) => [kind, 0]));
}

export class Collect extends Collecting {
  constructor(context, env) {
    const tally = newTally();
    super(context, counted(env, tally));
    this.tally = tally;
  }

  run(event, step) {
    instances[event.instanceId] = this.tally;
    return super.run(event, countedSteps(step, this.tally));
  }
}

function countedSteps(step, tally) {
  return {
    sleep: (name, duration) => step.sleep(name, duration),
    do: (name, options, work) =>
      step.do(name, options, async (...more) => {
        tally.steps += 1;
        const before = subrequests(tally);
        const result = await work(...more);
        tally.mostInAStep = Math.max(tally.mostInAStep, subrequests(tally) - before);
        return result;
      }),
  };
}

function subrequests({ asks, classA, classB, free }) {
  return asks + classA + classB + free;
}

function counted(env, tally) {
  return { ...env, BUCKET: countedBucket(env.BUCKET, tally), AI: { run: (_, { request_id: id }) => reply(id, tally) } };
}

function countedBucket(bucket, tally) {
  const wrapped = {};
  for (const [kind, names] of Object.entries(COUNTED)) {
    for (const name of names) {
      wrapped[name] = async (...given) => {
        tally[kind] += 1;
        const result = await bucket[name](...given);
        return name === "createMultipartUpload" ? countedUpload(result, tally) : result;
      };
    }
  }
  return wrapped;
}

function countedUpload(upload, tally) {
  const wrap = ([name, kind]) => [
    name,
    (...given) => {
      tally[kind] += 1;
      return upload[name](...given);
    },
  ];
  return Object.fromEntries(Object.entries(CLASS_OF_PART).map(wrap));
}

function reply(id, tally) {
  tally.asks += 1;
  const [waits, size, form] = id.split(":");
  const times = asked.get(id) ?? 0;
  asked.set(id, times + 1);
  if (times < Number(waits)) return Response.json({ status: "queued" });
  const body = new Uint8Array(Number(size)).fill("x".charCodeAt(0));
  body.set(BEGIN);
  body.set(END, body.length - END.length);
  return new Response(body, { headers: form === "announced" ? { "content-length": size } : {} });
}

export default {
  fetch(request, env, context) {
    if (new URL(request.url).pathname === "/counts") return Response.json({ instances, worker });
    return room.fetch(request, counted(env, worker), context);
  },
};
