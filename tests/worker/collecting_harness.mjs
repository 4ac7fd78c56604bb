// What tests do to the workflow behind the Worker's back. Orders are {"do", …}; see runtime.py.

const ORDERS = {
  // The local runtime does not go on by itself with instances that slept when it was killed; Cloudflare's does.
  async wake({ COLLECT, BUCKET }) {
    const woken = [];
    for (const id of await instancesIn(BUCKET)) {
      const instance = await COLLECT.get(id).catch(() => null);
      if (!instance || (await statusOf(instance)) !== "running") continue;
      await instance.pause();
      while ((await statusOf(instance)) === "waitingForPause") await scheduler.wait(5);
      await instance.resume();
      woken.push(id);
    }
    return { woken };
  },

  // From now on nothing waits in this instance, which need not be there yet.
  async skipWaits({ COLLECT }, { instance }) {
    const modifier = await COLLECT.unsafeGetInstanceModifier(instance);
    await modifier.disableSleeps();
    await modifier.disableRetryDelays();
    return {};
  },

  // These steps of an instance, which need not be there yet, fail at each attempt.
  async failSteps({ COLLECT }, { instance, steps, message }) {
    const modifier = await COLLECT.unsafeGetInstanceModifier(instance);
    for (const name of steps) await modifier.mockStepError({ name }, new Error(message));
    return {};
  },

  async status({ COLLECT }, { instance }) {
    return { status: await COLLECT.get(instance).then(statusOf, () => "missing") };
  },

  async terminate({ COLLECT }, { instance }) {
    await (await COLLECT.get(instance)).terminate();
    return {};
  },

  async listObjects({ BUCKET }, { prefix }) {
    const { objects } = await BUCKET.list({ prefix });
    return { keys: objects.map(({ key }) => key) };
  },

  async deleteObjects({ BUCKET }, { keys }) {
    await BUCKET.delete(keys);
    return {};
  },

  async putObjects({ BUCKET }, { keys, text, metadata }) {
    await Promise.all(keys.map((key) => BUCKET.put(key, text, { customMetadata: metadata })));
    return {};
  },
};

async function statusOf(instance) {
  return (await instance.status()).status;
}

async function instancesIn(bucket) {
  const found = [];
  let cursor;
  do {
    const page = await bucket.list({ prefix: "orders/", cursor });
    for (const { key } of page.objects) found.push(key.split("/").slice(1).join("-"));
    cursor = page.truncated ? page.cursor : undefined;
  } while (cursor);
  return found;
}

export default {
  async fetch(request, env) {
    const order = await request.json();
    try {
      return Response.json(await ORDERS[order.do](env, order));
    } catch (problem) {
      return new Response(String(problem), { status: 500 });
    }
  },
};
