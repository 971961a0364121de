import * as budgets from "@/server/domain/budgets";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import * as pins from "@/server/domain/pins";
import * as requests from "@/server/domain/requests";
import { pool } from "@/server/platform/db";
import { newId } from "@/server/platform/ids";
import { call } from "@/testing/api";
import { figure } from "@/testing/meshes";
import { priceOf } from "@/testing/needs";
import { realStep, runJobToEnd } from "./run";

/* Makes everything of the demo that is not an ordinary job, with the operations that people and programs use. */

const system = systemCtx("demo");

/** The organization and project of the demo; `key` is bound to the project. */
export type DemoProject = { organizationId: string; projectId: string; key: string };

/** Posts as a program does; throws if the request is refused. */
export async function post(
  key: string,
  target: string,
  body?: unknown,
  headers: Record<string, string> = {},
) {
  const answer = await call("POST", target, { key, body, headers });
  if (answer.status >= 300) throw new Error(`POST ${target}: ${answer.status} ${answer.text}`);
  return answer.json;
}

/** A picture, as bytes and as an uploaded input. */
export async function uploadPicture({ key }: DemoProject): Promise<{ bytes: string; picture: string }> {
  const bytes = await figure("#b5793a");
  const target = "/v1/artifacts?filename=sketch.png";
  const { artifactId } = await post(key, target, bytes, { "content-type": "image/png" });
  return { bytes: bytes.toString("base64"), picture: artifactId };
}

const FAST = "text.general.fast.v1";
const IMAGE = "image.generate.v1";

/** Comparisons of texts and of pictures, some of them judged. */
export async function createComparisons({ key }: DemoProject, count: number): Promise<void> {
  const asked: [capability: string, input: object][] = [
    [FAST, { messages: [{ role: "user", content: "How deep is the sea?" }] }],
    [IMAGE, { prompt: "A capstan on a quay, in the morning" }],
    [FAST, { messages: [{ role: "user", content: "Why is the sky blue?" }] }],
    [IMAGE, { prompt: "A lighthouse keeper with a lantern" }],
  ];
  for (let n = 0; n < count; n++) {
    const [capability, input] = asked[n % asked.length] ?? [FAST, {}];
    const { comparisonId, entries } = await post(key, `/v1/capabilities/${capability}/comparisons`, {
      competitors: ["1", "2"].map((model) => ({ axis: "provider", providerPin: `sandbox/sandbox-${model}` })),
      input,
    });
    for (const { jobId } of entries) await runJobToEnd(jobId);
    const best = { decision: "winner", overallWinnerEntryId: entries[n % entries.length].entryId };
    if (n % 4 > 1) await post(key, `/v1/comparisons/${comparisonId}/judgements`, best);
  }
}

/** Pinned executions with a manifest of the first five, a bulk with some failures, and one that was canceled. */
export async function pin({ key }: DemoProject, count: number): Promise<void> {
  const on = (model: string) => ({ provider: "sandbox", model, api: "responses" });
  const receiptIds: string[] = [];
  for (let n = 0; n < count; n++) {
    const body = {
      pin: on(`sandbox-${1 + (n % 2)}`),
      input: `Grade answer ${n + 1} of the set.`,
      tags: ["grading"],
    };
    receiptIds.push((await post(key, "/v1/inference/pinned", body)).receiptId);
  }
  const items = Array.from({ length: count * 2 }, (_, n) => ({
    id: `answer-${n + 1}`,
    input: `${n % 9 === 5 ? "[refuse] " : ""}Grade answer ${n + 1} of the set.`,
  }));
  const sampling = { maxOutputTokens: 64 };
  const { bulkId } = await post(key, "/v1/inference/pinned/bulk", {
    pin: on("sandbox-mixed"),
    sampling,
    items,
    tags: ["grading"],
  });
  await pins.runBulk(system, bulkId, realStep());
  const bulk = { pin: on("sandbox-slow"), sampling, items, tags: ["nightly"] };
  const { bulkId: stopped } = await post(key, "/v1/inference/pinned/bulk", bulk);
  await post(key, `/v1/inference/pinned/bulk/${stopped}/cancel`);
  await post(key, "/v1/provenance/manifests", {
    label: "Grading, first run",
    receiptIds: receiptIds.slice(0, 5),
  });
}

/** Requests for capabilities: a draft, one in the queue, one quoted, one with a question. */
export async function createRequests({ key }: DemoProject): Promise<void> {
  const file = async (summary: string, need: string) =>
    (await post(key, "/v1/capability-requests", { summary, need })).id as string;
  await file("Transcribe meetings", "A recording goes in; speakers, times and text come out.");
  const queued = await file(
    "Sort stamps by country",
    "A photograph of a stamp goes in, the country that issued it comes out.",
  );
  const quoted = await file(
    "Read water meters",
    "A photograph of a meter goes in, the reading comes out as a number.",
  );
  const unclear = await file(
    "Check alt texts",
    "A picture and its alt text go in; whether they agree comes out.",
  );
  for (const id of [queued, quoted, unclear]) await post(key, `/v1/capability-requests/${id}/submit`);
  for (const id of [quoted, unclear]) await requests.openForReview(system, id);
  await requests.issueQuote(
    system,
    priceOf(await requests.get(system, quoted), { note: "Includes a month of support." }),
  );
  await requests.askForInformation(system, {
    requestId: unclear,
    message: "Which languages must it understand?",
  });
}

/** LoRA weights under aliases, one of them the default for pictures. */
export async function adapt({ key, projectId }: DemoProject): Promise<void> {
  const register = async (displayName: string, triggerWord: string): Promise<string> =>
    (
      await post(key, "/v1/adapters", {
        displayName,
        baseModelFamily: "flux",
        source: {
          kind: "provider_ref",
          provider: "sandbox",
          ref: `weights/${triggerWord.toLowerCase()}`,
          revision: "1",
        },
        triggerWords: [triggerWord],
        licenseName: "CC BY 4.0",
        licenseStatus: "declared",
      })
    ).adapterId;
  const [ink, ink2, clay] = [
    await register("Ink on paper", "INKPAPER"),
    await register("Ink on paper, second training", "INKPAPER2"),
    await register("Glazed clay", "GLAZECLAY"),
  ];
  await post(key, "/v1/adapter-aliases", { alias: "house-style", target: { adapterId: ink, weight: 0.8 } });
  await post(key, "/v1/adapter-aliases/house-style/promotions", { target: { adapterId: ink2, weight: 1 } });
  await post(key, "/v1/adapter-aliases", { alias: "clay", target: { adapterId: clay } });
  const chosen = await call("PUT", `/v1/adapter-defaults/${IMAGE}?projectId=${projectId}`, {
    key,
    body: { alias: "clay" },
  });
  if (chosen.status >= 300) throw new Error(chosen.text);
}

/** Embeds for other pages, with sessions that are open and one that was revoked. */
export async function embed({ key, projectId }: DemoProject): Promise<void> {
  const define = (name: string, displayName: string, capabilityKey: string) =>
    post(key, "/v1/panel-definitions", { key: name, displayName, capabilityKey, projectId });
  const [assistant] = [
    await define("assistant", "Help assistant", FAST),
    await define("illustrator", "Illustrator", IMAGE),
  ];
  const open = (externalSubject: string) =>
    post(key, "/v1/panel-sessions", {
      projectId,
      panelDefinitionId: assistant.id,
      externalSubject,
      allowedOrigins: ["https://shop.example"],
      maxSpendMicros: 2_000_000,
      maxJobs: 50,
      expiresInMinutes: 120,
    });
  await open("customer-114");
  await open("customer-207");
  const { sessionId } = await open("customer-388");
  await post(key, `/v1/panel-sessions/${sessionId}/revoke`);
}

/** Budgets with about 40, 87, 95 and 106 % of their ceilings spent, computed from the spend in test money. */
export async function budget({ organizationId, projectId }: DemoProject, keyId: string): Promise<void> {
  const spent = async (condition: string, ...values: unknown[]): Promise<number> => {
    const { rows } = await pool.query<{ micros: string }>(
      `SELECT coalesce(sum(coalesce(settled_micros, amount_micros)), 0)::bigint AS micros FROM hold WHERE state <> 'released' AND ${condition}`,
      values,
    );
    return Math.max(1_000, Number(rows[0]?.micros ?? 0));
  };
  const month = "created_at >= date_trunc('month', now(), 'UTC')";
  const set = (
    owner: Parameters<typeof budgets.set>[1]["owner"],
    period: "day" | "month" | "total",
    micros: number,
    enforcement: "warn" | "prevent",
  ) =>
    budgets.set(system, {
      owner,
      period,
      ceilingMicros: Math.round(Number(micros.toPrecision(3))),
      enforcement,
    });
  await set(
    { organizationId },
    "month",
    (await spent(`organization_id = $1 AND ${month}`, organizationId)) / 0.4,
    "prevent",
  );
  await set({ projectId }, "month", (await spent(`project_id = $1 AND ${month}`, projectId)) / 0.87, "warn");
  await set({ projectId }, "total", (await spent("project_id = $1", projectId)) / 1.06, "warn");
  await set(
    { principalId: keyId },
    "month",
    (await spent(`principal_id = $1 AND ${month}`, keyId)) / 0.95,
    "warn",
  );
}

/** A receiver's answers to the attempts of one delivery; the last one decides its state. */
const ANSWERS = [[204], [204], [204], [500, 204], [204], [500, 503, 500, 500, 500, 500, 500, 500]];

/**
 * Two endpoints, and the log of deliveries for the newest ended jobs. The log is written here as a sender would leave it, because
 * no program listens at these addresses.
 */
export async function hook({ key, organizationId, projectId }: DemoProject, count: number): Promise<void> {
  const open = async (url: string, eventTypes: string[]): Promise<string> =>
    (await post(key, "/v1/delivery-endpoints", { url, secret: "a secret of the demo only", eventTypes }))
      .endpointId;
  const endpointId = await open("https://hooks.example.com/capstan", ["job.succeeded", "job.failed"]);
  await open("https://chat.example.com/spending", ["budget.alert", "capability_request.quoted"]);
  const { rows } = await pool.query<{ id: string }>(
    "SELECT id FROM job WHERE project_id = $1 AND status IN ('succeeded', 'failed') AND NOT is_blind ORDER BY id DESC LIMIT $2",
    [projectId, count],
  );
  for (const [n, { id: jobId }] of rows.entries()) {
    const { events } = await jobs.events(system, jobId, { limit: 200 });
    const event = events.find(({ type }) => type === "job.succeeded" || type === "job.failed");
    if (!event) continue;
    const tries = ANSWERS[n % ANSWERS.length] ?? [204];
    const id = newId("delivery");
    const ended = new Date(Date.parse(event.createdAt) + 120 * tries.length);
    await pool.query(
      `INSERT INTO delivery (id, organization_id, project_id, endpoint_id, event_id, job_id, type, body, state, attempts, failures,
         last_status, last_error, created_at, completed_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)`,
      [
        id,
        organizationId,
        projectId,
        endpointId,
        `evt_${jobId.slice(-26)}_${event.id}`,
        jobId,
        event.type,
        JSON.stringify(event),
        tries.at(-1) === 204 ? "succeeded" : "failed",
        tries.length,
        tries.filter((status) => status !== 204).length,
        tries.at(-1),
        tries.at(-1) === 204 ? null : REFUSED,
        event.createdAt,
        ended,
      ],
    );
    for (const [number, status] of tries.entries())
      await pool.query(
        `INSERT INTO delivery_attempt (delivery_id, number, started_at, duration_ms, http_status, error) VALUES ($1, $2, $3, $4, $5, $6)`,
        [
          id,
          number + 1,
          new Date(Date.parse(event.createdAt) + 120 * number),
          40 + 7 * (n % 9),
          status,
          status === 204 ? null : REFUSED,
        ],
      );
  }
}
const REFUSED = "The receiver answered with HTTP 500.";
