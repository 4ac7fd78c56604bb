// Runs the Worker with its bucket and its workflow on this computer, for runtime.py. The first line on stdin
// is what to run, each further line an order for the harness; each is answered by a line on stdout. When stdin ends, all
// of it ends.

import { createRequire } from "node:module";
import { createInterface } from "node:readline";

const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
const plan = JSON.parse((await lines.next()).value);
const { Miniflare } = createRequire(`${plan.runtime}/`)("miniflare");

const { compatibility_date: compatibilityDate, r2_buckets: buckets, workflows, ai } = plan.config;
const modulesRules = [{ type: "ESModule", include: ["**/*.js", "**/*.mjs"] }];
const r2Buckets = Object.fromEntries(buckets.map(({ binding, bucket_name: name }) => [binding, name]));
const workflowsOf = (more) =>
  Object.fromEntries(workflows.map(({ binding, name, class_name: className }) => [binding, { name, className, ...more }]));

const miniflare = new Miniflare({
  host: "127.0.0.1",
  port: plan.port,
  cf: false, // or it asks Cloudflare where this computer is
  r2Persist: `${plan.folder}/r2`,
  workflowsPersist: `${plan.folder}/workflows`,
  handleRuntimeStdio: (out, error) => [out, error].forEach((stream) => stream.pipe(process.stderr)),
  workers: [
    {
      name: plan.config.name,
      modules: true,
      modulesRules,
      modulesRoot: plan.root,
      scriptPath: plan.main,
      compatibilityDate,
      bindings: plan.secret ? { SHARED_SECRET: plan.secret } : {},
      r2Buckets,
      workflows: workflowsOf({}),
      serviceBindings: { [ai.binding]: { name: "ai", entrypoint: "Ai" } },
    },
    {
      name: "ai",
      modules: true,
      modulesRules,
      scriptPath: plan.ai,
      compatibilityDate,
      bindings: { PRACTICE: plan.practice, SCRIPTED: plan.scripted },
    },
    {
      name: "harness",
      modules: true,
      modulesRules,
      scriptPath: plan.harness,
      compatibilityDate,
      r2Buckets,
      workflows: workflowsOf({ scriptName: plan.config.name }),
    },
  ],
});

const write = (report) => process.stdout.write(`${JSON.stringify(report)}\n`);
try {
  write({ address: (await miniflare.ready).origin });
  for await (const line of lines) {
    const harness = await miniflare.getWorker("harness");
    const answer = await harness.fetch("http://harness/", { method: "POST", body: line });
    const text = await answer.text();
    write(answer.ok ? JSON.parse(text) : { error: text });
  }
} catch (problem) {
  write({ error: String(problem?.stack ?? problem) });
} finally {
  await miniflare.dispose();
}
process.exit(0);
