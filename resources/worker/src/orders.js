// What is handed over: which batches of which model are to be asked for, and how often.

import { badInput, checkModel } from "./index.js";

export const ORDER_BYTES = 65_536;
const MOST_BATCHES = 100;
const LARGEST_NUMBER = 999_999;
const TITLE_LENGTH = 200;
const REQUEST_ID = /^[!-~]{1,200}$/;

// The checked order, without whatever else the body held. Waits are in seconds.
export function checkOrder(body, env) {
  const { model, title, kind, first_wait, longest_wait, batches } = body ?? {};
  check(typeof model === "string", "model must be a text.");
  checkModel(model, env);
  check(typeof title === "string" && title.isWellFormed(), "title must be a text.");
  check([...title].length <= TITLE_LENGTH, `title must have at most ${TITLE_LENGTH} characters.`);
  check(kind === "rank" || kind === "embed", 'kind must be "rank" or "embed".');
  check(isWithin(first_wait, 0.05, 3600), "first_wait must be 0.05 to 3600 seconds.");
  check(isWithin(longest_wait, first_wait, 86_400), "longest_wait must be first_wait to 86400 seconds.");
  check(Array.isArray(batches) && batches.length, "batches must be a list with at least one batch.");
  check(batches.length <= MOST_BATCHES, `batches must have at most ${MOST_BATCHES} batches.`);
  check(batches.every(isBatch), "Each batch must be [number, request_id].");
  check(new Set(batches.map(([number]) => number)).size === batches.length, "A number must not come twice.");
  return { model, title, kind, first_wait, longest_wait, batches };
}

// The title and the rest are kept once more beside the object, so that one call lists them for many shards.
export function titlesOf({ model, title, kind, batches }) {
  return { model, title: encodeURIComponent(title), kind, batches: String(batches.length) };
}

export function isSameOrder(one, other) {
  return one.model === other.model && inOrder(one.batches) === inOrder(other.batches);
}

function inOrder(batches) {
  return JSON.stringify([...batches].sort(([one], [other]) => one - other));
}

function isBatch(batch) {
  if (!Array.isArray(batch) || batch.length !== 2) return false;
  const [number, requestId] = batch;
  const isNumber = Number.isInteger(number) && isWithin(number, 1, LARGEST_NUMBER);
  return isNumber && typeof requestId === "string" && REQUEST_ID.test(requestId);
}

function isWithin(value, least, most) {
  return typeof value === "number" && value >= least && value <= most;
}

function check(isGood, message) {
  if (!isGood) throw badInput(message);
}
