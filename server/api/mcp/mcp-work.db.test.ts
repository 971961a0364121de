import { setMaxListeners } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { finish, makeKey, submitWaiting } from "@/testing/api";
import {
  type Body,
  client,
  closeServers,
  connect,
  input,
  openServers,
  PIN,
  raw,
  refused,
  submit,
  TEXT,
  tenant,
  theirs,
  use,
} from "./mcp.fixture";

beforeAll(openServers);
afterAll(closeServers);

describe("work", () => {
  test("invoke waits for short work, runs it once for one key, and refuses long work", async () => {
    const args = { capability_key: TEXT, request: { input }, idempotency_key: "one" };
    const first = await use("invoke", args);
    expect(first).toMatchObject({ status: "succeeded", typedOutput: { role: "assistant" } });
    expect(await use("invoke", args)).toEqual(first);
    expect(await refused("invoke", { ...args, request: { input, tags: ["x"] } })).toMatchObject({
      code: "IdempotencyConflict",
    });
    const long = await refused("invoke", {
      capability_key: "image.generate.v1",
      request: { prompt: "A kite" },
    });
    expect(long).toMatchObject({ code: "USE_JOBS", details: { submit: expect.any(String) } });
  });

  test("a job is submitted, awaited with progress, read, found and inspected, and its receipt and images are fetched", async () => {
    const { jobId, status } = await submit("image.generate.v1", { prompt: "A kite over the dunes" });
    expect(status).toBe("queued");
    const heard: (string | undefined)[] = [];
    const waiting = client.callTool(
      { name: "wait_job", arguments: { job_id: jobId, timeout_seconds: 60 } },
      undefined,
      { onprogress: ({ message }) => heard.push(message), timeout: 60_000 },
    );
    await finish(jobId);
    const { structuredContent: ended } = (await waiting) as Body;
    expect(ended).toMatchObject({ jobId, status: "succeeded" });
    expect(heard).toContain("job.queued");
    expect((await use("job_status", { job_id: jobId })).status).toBe("succeeded");
    const found = await use("jobs_find", { capability_key: "image.generate.v1" });
    expect(found.items.map((each: { jobId: string }) => each.jobId)).toContain(jobId);
    const looked = await use("job_inspect", { job_id: jobId });
    expect(JSON.stringify(looked.request)).toContain("kite over the dunes");
    expect((await use("get_receipt", { job_id: jobId })).receiptId).toBe(ended.receiptId);
    const artifactId = ended.artifacts[0].artifactId;
    const result = await raw("download_artifact", { job_id: jobId, artifact_id: artifactId });
    const { downloadPath, byteLength } = result.structuredContent as Body;
    const file = await tenant.get(downloadPath);
    expect(file.bytes.byteLength).toBe(byteLength);
    expect(result.content.map(({ type }) => type)).toEqual(["text", "resource_link", "image"]);
    const picture = result.content.find(({ type }) => type === "image");
    expect(picture?.type === "image" && picture.data).toBe(file.bytes.toString("base64"));
  });

  test("a wait ends at its time limit, and at once if the job needs a person", async () => {
    const { jobId } = await submit();
    expect((await use("wait_job", { job_id: jobId, timeout_seconds: 1 })).status).toBe("queued");
    const held = await submitWaiting(tenant, TEXT, { input });
    expect((await use("wait_job", { job_id: held.jobId, timeout_seconds: 60 })).status).toBe(
      "awaiting_approval",
    );
  });

  test("a cancelled wait ends for client and server, and leaves the job running", async () => {
    const { jobId } = await submit();
    const cancelling = new AbortController();
    const answers: Promise<string>[] = [];
    const watched = await connect(tenant.key, {
      async fetch(target, init) {
        const answer = await fetch(target, init);
        if (String(init?.body).includes("wait_job")) answers.push(answer.clone().text());
        return answer;
      },
    });
    const waiting = watched.callTool(
      { name: "wait_job", arguments: { job_id: jobId, timeout_seconds: 300 } },
      undefined,
      {
        signal: cancelling.signal,
        onprogress: () => cancelling.abort("enough"),
      },
    );
    await expect(waiting).rejects.toThrow();
    expect(answers.length).toBe(1);
    await answers[0]; // the stream of the call ends, minutes before its own limit
    expect((await use("job_status", { job_id: jobId })).status).toBe("queued");
  });

  test("a key holds at most fifty waits at once, the next is refused with the reason, and other keys can wait", {
    tags: "long",
  }, async () => {
    const { jobId } = await submit();
    const [one, stranger] = [await makeKey({ projectId: tenant.projectId }), await makeKey(theirs)];
    const waiter = await connect(one);
    const cancelling = new AbortController();
    setMaxListeners(0, cancelling.signal);
    const opened = Array.from(
      { length: 50 },
      () =>
        new Promise<void>((heard) => {
          waiter
            .callTool({ name: "wait_job", arguments: { job_id: jobId, timeout_seconds: 300 } }, undefined, {
              signal: cancelling.signal,
              onprogress: () => heard(),
            })
            .catch(() => {});
        }),
    );
    await Promise.all(opened);
    expect(await refused("wait_job", { job_id: jobId }, waiter)).toMatchObject({
      code: "RateLimited",
      message: expect.stringContaining("50 waits"),
    });
    expect((await use("wait_job", { job_id: jobId, timeout_seconds: 1 })).status).toBe("queued");
    cancelling.abort("enough");
    expect(await refused("wait_job", { job_id: jobId }, await connect(stranger))).toMatchObject({
      code: "NotFound",
    });
  });

  test("a job is cancelled and stays cancelled", async () => {
    const { jobId } = await submit();
    for (const _ of [1, 2]) expect((await use("cancel_job", { job_id: jobId })).status).toBe("canceled");
  });
});

describe("evidence", () => {
  test("a pinned run and a bulk return a record, a lockfile and a manifest", async () => {
    const answer = await use("pinned_run", { request: PIN, idempotency_key: "pin" });
    const { receiptId } = answer;
    expect(JSON.stringify(await use("pinned_get", { receipt_id: receiptId }))).toContain("sandbox-1");
    const lockfile = await use("lockfile_emit", { receipt_id: receiptId });
    expect(await use("verify_lockfile", { lockfile })).toBeDefined();
    const manifest = await use("manifest_create", { manifest: { label: "x", receiptIds: [receiptId] } });
    expect(await use("manifest_verify", { manifest_id: manifest.manifestId })).toBeDefined();
    const bulk = await use("pinned_bulk", {
      request: { pin: PIN.pin, items: [{ id: "one", input: PIN.input }] },
    });
    expect((await use("pinned_bulk_get", { bulk_id: bulk.bulkId })).bulkId).toBe(bulk.bulkId);
  });
});
