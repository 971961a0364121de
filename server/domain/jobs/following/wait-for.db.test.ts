import { beforeAll, describe, expect, test } from "vitest";
import { finish, makeTenant, type Tenant } from "@/testing/api";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await makeTenant();
});

const submit = async (): Promise<string> =>
  (
    await tenant.post("/v1/capabilities/text.general.fast.v1/jobs", {
      input: { messages: [{ role: "user", content: "How deep is the sea?" }] },
    })
  ).json.jobId;
const read = (jobId: string, waitSeconds: number | string) =>
  tenant.get(`/v1/jobs/${jobId}?waitSeconds=${waitSeconds}`);

describe("GET /v1/jobs/{job_id}?waitSeconds", () => {
  test("a read returns when the status changes, before the time is up", async () => {
    const jobId = await submit();
    const waiting = read(jobId, 30);
    await finish(jobId);
    const { status, json } = await waiting;
    expect(status).toBe(200);
    expect(json.status).not.toBe("queued");
  });

  test("a read returns the same status when the time is up", async () => {
    const jobId = await submit();
    expect((await read(jobId, 0)).json.status).toBe("queued");
    expect((await read(jobId, 1)).json.status).toBe("queued");
  });

  test("a read of an ended job returns at once", async () => {
    const jobId = await submit();
    await finish(jobId);
    expect((await read(jobId, 30)).json.status).toBe("succeeded");
  });

  test("a wait is a whole number from 0 to 30, and the job must be the caller's own", async () => {
    const jobId = await submit();
    for (const seconds of [31, -1, "x", 1.5]) expect((await read(jobId, seconds)).status).toBe(422);
    const other = await makeTenant();
    expect((await other.get(`/v1/jobs/${jobId}?waitSeconds=30`)).status).toBe(404);
  });
});
