// The workflow: one instance asks for the batches of one shard, round after round, with growing waits between them.
// A step that is cut off runs again, and an instance that was moved goes through all of its steps again, with the
// results that they had. So whatever is decided here follows from results of steps.

import { WorkflowEntrypoint } from "cloudflare:workers";
import { collect, placesOf } from "./storing.js";

const GIVEN_UP_AFTER = 8 * 24 * 60 * 60; // seconds of waiting; Workers AI keeps answers for some days, nobody says how many
const GROWTH = 1.3;
const FAILURES_IN_A_ROW = 10;
const STEP = { retries: { limit: 3, delay: "10 seconds", backoff: "exponential" }, timeout: "10 minutes" };
const STORED_PER_STEP = 4;
const COPIED_PER_STEP = 16 * 1024 * 1024; // bytes that went through this Worker's memory, which takes computing time
const STEP_MILLISECONDS = 120_000;

export class Collect extends WorkflowEntrypoint {
  async run({ payload: { job, shard } }, step) {
    const places = placesOf(job, shard);
    const order = await step.do("order", STEP, async () => (await this.env.BUCKET.get(places.order))?.json() ?? null);
    if (!order) return {}; // removed before it began
    let waiting = order.batches;
    let unasked = waiting.length; // of this round; they stand in front
    let wait = order.first_wait;
    let waited = 0;
    let failures = 0;
    for (let round = 1; waiting.length && waited < GIVEN_UP_AFTER; round += 1) {
      let seen = { asked: 0, done: [], isBusy: false };
      try {
        const now = waiting.slice(0, unasked);
        seen = await step.do(`round ${round}`, STEP, () => this.ask(order.model, now, places));
        failures = 0;
      } catch (problem) {
        failures += 1;
        if (failures === FAILURES_IN_A_ROW) throw problem;
      }
      const done = new Set(seen.done);
      const again = waiting.slice(0, seen.asked).filter(([number]) => !done.has(number));
      waiting = [...waiting.slice(seen.asked), ...again];
      unasked -= seen.asked;
      if (!waiting.length || (seen.asked && unasked && !seen.isBusy)) continue;
      await step.sleep(`wait ${round}`, inWords(wait));
      waited += wait;
      wait = Math.min(wait * GROWTH, order.longest_wait);
      unasked = waiting.length;
    }
    const left = waiting.map(([number]) => number);
    await step.do("ended", STEP, async () => {
      await this.env.BUCKET.put(places.ended, JSON.stringify({ left }));
    });
    return {};
  }

  // Asks for one batch after the other until the step has done enough, or the service is too busy.
  async ask(model, batches, places) {
    const began = Date.now();
    const done = [];
    let asked = 0;
    let copied = 0;
    let stored = 0;
    let broken = null;
    for (const [number, requestId] of batches) {
      if (stored >= STORED_PER_STEP || copied > COPIED_PER_STEP || Date.now() - began > STEP_MILLISECONDS) break;
      const outcome = await collect(this.env, model, requestId, places, number);
      if (outcome.isBusy) return { asked, done, isBusy: true };
      asked += 1;
      if (outcome.isDone) done.push(number);
      stored += outcome.isStored ? 1 : 0;
      copied += outcome.copied ?? 0;
      broken = outcome.problem ?? broken;
    }
    if (broken && !done.length) throw broken; // the step is tried again, and the failure is counted
    return { asked, done, isBusy: false };
  }
}

// In words, as the unit of a plain number is told differently by Cloudflare's pages; below a second, which only tests
// wait, there are no words.
function inWords(seconds) {
  return seconds < 1 ? Math.round(seconds * 1000) : `${Math.ceil(seconds)} seconds`;
}
