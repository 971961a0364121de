import { beforeAll, expect, test } from "vitest";
import { capabilities } from "@/server/capabilities/registry.gen";
import { call, finish, makeTenant, type Tenant } from "@/testing/api";

/* A client runs one capability with only the capability's own document. */

let tenant: Tenant;
beforeAll(async () => {
  tenant = await makeTenant();
});

const documentOf = async (key: string) => (await call("GET", `/v1/capabilities/${key}/openapi.json`)).json;

/** The only operation of a document with this method whose path matches. */
function operationIn(document: { paths: object }, method: string, path: RegExp) {
  const found = Object.entries(document.paths).filter(
    ([each, methods]) => path.test(each) && method in methods,
  );
  expect(found.map(([each]) => each)).toHaveLength(1);
  const [[target, methods]] = found as [[string, Record<string, { requestBody: object }>]];
  return { target, operation: methods[method] as never as { requestBody: Body } };
}
type Body = { content: { "application/json": { example: object; schema: { $ref: string } } } };

test.each(capabilities.map(({ key }) => [key]))(
  "the document of %s is smaller than 40,000 bytes",
  async (key) => {
    const { status, text } = await call("GET", `/v1/capabilities/${key}/openapi.json`);
    expect(status).toBe(200);
    expect(Buffer.byteLength(text)).toBeLessThan(40_000);
  },
);

test("a job is submitted and followed, and its file is downloaded, from the document alone", {
  tags: "long",
}, async () => {
  const document = await documentOf("image.generate.v1");
  const submit = operationIn(document, "post", /\/jobs$/);
  const { example, schema } = submit.operation.requestBody.content["application/json"];
  const named = ({ $ref }: { $ref: string }) => document.components.schemas[$ref.split("/").at(-1) ?? ""];
  const { input } = named(schema).properties;
  expect(Object.keys(named(input).properties)).toContain("prompt");

  const { key } = tenant;
  const submitted = await call("POST", submit.target, { key, body: example });
  expect(submitted.status, submitted.text).toBe(200);
  await finish(submitted.json.jobId);

  const { target: read } = operationIn(document, "get", /^\/v1\/jobs\/\{job_id\}$/);
  const job = (await call("GET", read.replace("{job_id}", submitted.json.jobId), { key })).json;
  expect([job.status, job.nextAction]).toEqual(["succeeded", "download_artifacts"]);

  const { target: download } = operationIn(document, "get", /artifacts/);
  const [artifact] = job.artifacts;
  const address = download.replace("{job_id}", job.jobId).replace("{artifact_id}", artifact.artifactId);
  const file = await call("GET", address, { key });
  expect([file.status, file.bytes.byteLength]).toEqual([200, artifact.byteLength]);
});

test("a capability without jobs is invoked from its document, and the document has no jobs", async () => {
  const document = await documentOf("compute.evaluate.v1");
  expect(Object.keys(document.paths).filter((path) => path.endsWith("/jobs"))).toEqual([]);
  const { target, operation } = operationIn(document, "post", /\/invoke$/);
  const { example } = operation.requestBody.content["application/json"];
  const answer = await call("POST", target, { key: tenant.key, body: example });
  expect([answer.status, answer.json.status]).toEqual([200, "succeeded"]);
});
