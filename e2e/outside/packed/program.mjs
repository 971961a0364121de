/*
 * Uses only the packed client and Node: runs a job to its end, then checks its artifact, its receipt and its webhook. Prints
 * one line of JSON per check.
 */
import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { CapstanError, createClient, verifyWebhook, WebhookSignatureError } from "@capstan/client";

const secret = `whsec_${randomBytes(32).toString("base64")}`;
const client = createClient({
  baseUrl: process.env.CAPSTAN_BASE_URL,
  apiKey: process.env.CAPSTAN_API_KEY,
});
const picture = { prompt: "A lighthouse" };
let run;

const checks = {
  async "a job runs and is waited for"() {
    const { jobId } = await client.submit("image.generate.v1", picture, { maxCostUsd: 1 });
    run = await client.waitForJob(jobId, { timeoutSeconds: 60 });
    assert.equal(run.id, jobId);
  },
  async "its artifact is downloaded"() {
    const { bytes, mediaType } = await run.artifacts[0].download();
    assert.match(mediaType, /^image\//);
    assert.ok(bytes.byteLength > 100);
  },
  async "its receipt verifies, and a changed one does not"() {
    assert.equal((await client.verify(run.receipt)).verified, true);
    assert.equal((await client.verify({ ...run.receipt, status: "failed" })).verified, false);
  },
  async "text is streamed"() {
    const input = { messages: [{ role: "user", content: "Describe a lighthouse" }] };
    const story = await client.stream("text.general.fast.v1", input);
    let text = "";
    for await (const piece of story.text()) text += piece;
    assert.equal((await story.result()).output.content, text);
  },
  async "a refusal is an error with its facts"() {
    const error = await client.runAndWait("text.general.fats.v1", {}).catch((cause) => cause);
    assert.ok(error instanceof CapstanError);
    assert.deepEqual([error.status, error.code, error.newKeySafe], [404, "UNKNOWN_CAPABILITY", true]);
    assert.match(error.requestId, /^req_/);
  },
  async "a webhook is verified, and a changed one refused"() {
    const server = createServer().listen(0, "127.0.0.1");
    await once(server, "listening");
    const endpoint = await client.post("/v1/delivery-endpoints", {
      body: { url: `http://127.0.0.1:${server.address().port}/`, secret, eventTypes: ["job.succeeded"] },
    });
    const arrived = once(server, "request");
    const { jobId } = await client.submit("image.generate.v1", picture);
    const [request, response] = await arrived;
    const body = Buffer.concat(await request.toArray());
    response.writeHead(204).end();
    server.close();
    await client.post("/v1/delivery-endpoints/{endpoint_id}/disable", {
      params: { path: { endpoint_id: endpoint.endpointId } },
    });
    const { headers } = request;
    assert.equal((await verifyWebhook({ body, headers, secret })).jobId, jobId);
    await assert.rejects(verifyWebhook({ body: `${body} `, headers, secret }), WebhookSignatureError);
  },
  async "it is the same client as a CommonJS module"() {
    const { createClient: make } = createRequire(import.meta.url)("@capstan/client");
    const { baseUrl, apiKey } = {
      baseUrl: process.env.CAPSTAN_BASE_URL,
      apiKey: process.env.CAPSTAN_API_KEY,
    };
    assert.equal(
      (await make({ baseUrl, apiKey }).get("/v1/jobs/{job_id}", { params: { path: { job_id: run.id } } }))
        .jobId,
      run.id,
    );
  },
};

for (const [check, work] of Object.entries(checks)) {
  const error = await work().then(
    () => null,
    (cause) => String(cause),
  );
  console.log(JSON.stringify({ check, error }));
}
process.exit();
