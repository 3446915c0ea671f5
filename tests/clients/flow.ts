// The whole flow with a client generated from the schema; prints the run's id, then the outcome.
import createClient from "openapi-fetch";
import type { paths } from "./schema.js";

const { EVALHUB_URL, EVALHUB_TOKEN, MODEL, JURY } = process.env;
const api = createClient<paths>({
  baseUrl: EVALHUB_URL,
  headers: { Authorization: `Bearer ${EVALHUB_TOKEN}` },
});

function data<T>(answer: { data?: T; error?: unknown; response: Response }): T {
  if (answer.data === undefined)
    throw new Error(`${answer.response.url}: ${JSON.stringify(answer.error)}`);
  return answer.data;
}

const issue = data(
  await api.POST("/api/v1/issues/", {
    body: {
      title: "Wrong sums",
      description: "It adds 2 and 2 to 5.",
      sources: [{ kind: "general", value: "A chat" }],
    },
  }),
);
if (issue.author?.toUpperCase() !== "SCRIPT") throw new Error("Who is the author?");
const test = data(
  await api.POST("/api/v1/tests/", {
    body: {
      issue: issue.id,
      source_id: "typescript",
      messages: [{ role: "user", content: "2 + 2?" }],
      criteria: [{ text: "Says 4" }],
    },
  }),
);
const path = { id: issue.id };
data(await api.POST("/api/v1/issues/{id}/move/", { params: { path }, body: { move: "approve" } }));

const launch = data(
  await api.POST("/api/v1/runs/", {
    body: { label: "typescript", tests: [test.id], models: [Number(MODEL)], jury: Number(JURY) },
  }),
);
const run = launch.runs[0];
if (run === undefined) throw new Error("No run was started.");
console.log(run);

const progress = async () =>
  data(await api.GET("/api/v1/runs/{id}/progress/", { params: { path: { id: run } } }));
while ((await progress()).is_live) await new Promise((done) => setTimeout(done, 200));

const results = data(await api.GET("/api/v1/results/", { params: { query: { run } } })).results;
const policy = { conclusion: false, failing_severity: "low" } as const;
const gate = async () => {
  const decision = data(await api.POST("/api/v1/gates/", { body: { run: String(run), policy } }));
  if (typeof decision === "string") throw new Error("The gate is asked for JSON.");
  return decision.exit;
};
const exits = [await gate()];
const result = results[0];
if (result === undefined) throw new Error("There is no result.");
data(
  await api.POST("/api/v1/human-evaluations/", {
    body: {
      result: result.id,
      criterion: test.criteria?.[0]?.key ?? "",
      option: "UNMET",
      justification: "It says five.",
    },
  }),
);
exits.push(await gate());
const batch = data(
  await api.POST("/api/v1/feedback/batch/", { body: { feedback: [{ comment: "Wrong." }] } }),
);
const refused = await api.GET("/api/v1/runs/{id}/", { params: { path: { id: 10 ** 9 } } });
console.log(
  JSON.stringify({
    results: results.map((row) => [row.test_source_id, row.outcome, row.answer?.text]),
    exits,
    added: batch.added,
    status: refused.response.status,
    error: typeof refused.error,
  }),
);
