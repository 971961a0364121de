import { expect, test } from "vitest";
import { measurePicture } from "@/server/compute/imaging";
import { submit } from "@/server/domain/jobs";
import { publicUrl } from "@/server/platform/settings/env";
import { finish } from "@/testing/api";
import { spend } from "@/testing/limits";
import { incoming, jsonOf } from "@/testing/requests";
import { cookieOf } from "@/testing/sessions";
import { makePerson, makeTenant } from "@/testing/tenants";
import { panelFiles } from "./panel-files";
import { keyLimit } from "./rate-limit";

const origin = new URL(publicUrl).origin;

async function makePanel() {
  const { organizationId, projectId, apiKey } = await makeTenant();
  const person = await makePerson(organizationId, "member");
  return { projectId, apiKey, person, cookie: await cookieOf(person.userId) };
}

/** Uploads a file as a form's page does. */
const upload = (projectId: string, headers: Record<string, string | undefined>, body = "A story.") =>
  panelFiles(
    incoming({
      path: "/artifacts",
      query: `projectId=${projectId}&filename=story.md`,
      headers: { origin, "content-type": "text/markdown", ...headers },
      body,
    }),
  );

const read = (path: string, headers: Record<string, string | undefined>, method = "GET") =>
  panelFiles(incoming({ method, path, headers }));

test("a file from a form is stored for the browser's session and counts against the person's rate limit", {
  tags: "long",
}, async () => {
  const { projectId, cookie, person } = await makePanel();
  const stored = await upload(projectId, { cookie });
  expect(stored.status).toBe(200);
  expect(jsonOf(stored)).toMatchObject({ mediaType: "text/markdown", filename: "story.md", byteLength: 8 });
  const left = async () => Number((await upload(projectId, { cookie })).headers["ratelimit-remaining"]);
  expect(await left()).toBeLessThan(Number(stored.headers["ratelimit-limit"]));
  spend(keyLimit, person.userId);
  const refused = await upload(projectId, { cookie });
  expect(refused).toMatchObject({
    status: 429,
    headers: { "retry-after": expect.any(String), "x-request-id": expect.stringMatching(/^req_/) },
  });
  expect(jsonOf(refused).detail).toMatchObject({
    code: "RateLimited",
    retryable: true,
    nextAction: expect.any(String),
    retryAfterSeconds: expect.any(Number),
  });
});

test("other sites, keys and strangers cannot store a file, and the error has the shape of the API", async () => {
  const { projectId, apiKey, cookie } = await makePanel();
  const other = await makePanel();
  const refusals: [number, string, Promise<Awaited<ReturnType<typeof upload>>>][] = [
    [403, "CrossSiteRequest", upload(projectId, { cookie, origin: "https://evil.example" })],
    [403, "CrossSiteRequest", upload(projectId, { cookie, origin: undefined })],
    [401, "AuthenticationFailed", upload(projectId, {})],
    [403, "AuthorizationFailed", upload(projectId, { authorization: `Bearer ${apiKey}` })],
    [403, "AuthorizationFailed", upload(projectId, { cookie: other.cookie })],
    [405, "MethodNotAllowed", read("/artifacts", { cookie })],
  ];
  for (const [status, code, asked] of refusals) {
    const answer = await asked;
    expect([answer.status, jsonOf(answer).detail.code]).toEqual([status, code]);
    expect(answer.headers["x-request-id"]).toMatch(/^req_/);
  }
  expect(jsonOf(await upload(projectId, { cookie }, ""))).toMatchObject({ detail: [{ loc: ["body"] }] });
});

test("a job's artifact is served to those who may see the job, whole or in part, and to no other site", {
  tags: "long",
}, async () => {
  const { cookie, person, projectId } = await makePanel();
  const other = await makePanel();
  const { jobId } = await submit(person.ctx, "image.generate.v1", {
    input: { prompt: "A kite" },
    context: { projectId },
  });
  const artifactId = (await finish(jobId)).artifacts?.[0]?.artifactId;
  const path = `/artifacts/${jobId}/${artifactId}`;
  const whole = await read(path, { cookie });
  expect(whole).toMatchObject({
    status: 200,
    headers: {
      "content-type": "image/png",
      "content-disposition": expect.stringMatching(/^inline/),
      "content-security-policy": "sandbox; default-src 'none'",
      "cross-origin-resource-policy": "same-origin",
      "referrer-policy": "no-referrer",
    },
  });
  expect(await read(path, { cookie }, "HEAD")).toMatchObject({ status: 200, body: null });
  expect((await read(path, { cookie, range: "bytes=0-9" })).headers["content-length"]).toBe("10");
  expect((await read(path, { cookie, "if-none-match": whole.headers.etag })).status).toBe(304);
  const codeOf = async (asked: ReturnType<typeof read>) => jsonOf(await asked).detail.code;
  expect(await codeOf(read(path, { cookie, "if-match": '"other"' }))).toBe("PreconditionFailed");
  expect(await codeOf(read(path, { cookie, range: "bytes=99999999-" }))).toBe("RangeNotSatisfiable");
  expect(await codeOf(read(path, {}))).toBe("AuthenticationFailed");
  expect(await codeOf(read(path, { cookie: other.cookie }))).toBe("NotFound");
  expect(await codeOf(read(`/artifacts/${jobId}/art_unknown`, { cookie }))).toBe("NotFound");

  const small = await read(`${path}/thumbnail`, { cookie });
  expect(small).toMatchObject({ status: 200, headers: { "content-type": "image/webp" } });
  expect(await measurePicture(small.body as Uint8Array)).toEqual({ width: 72, height: 72 });
  expect(await codeOf(read(`${path}/thumbnail`, { cookie: other.cookie }))).toBe("NotFound");
});

test("a sound has no thumbnail", async () => {
  const { cookie, person, projectId } = await makePanel();
  const { jobId } = await submit(person.ctx, "audio.sfx.generate.v1", {
    input: { prompt: "Rain" },
    context: { projectId },
  });
  const artifactId = (await finish(jobId)).artifacts?.[0]?.artifactId;
  const answer = await read(`/artifacts/${jobId}/${artifactId}/thumbnail`, { cookie });
  expect(jsonOf(answer).detail).toMatchObject({
    code: "NotFound",
    message: expect.stringMatching(/thumbnail/),
  });
});
