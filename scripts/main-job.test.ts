import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { runMainJob } from "./main-job";

let server: Server | undefined;
afterEach(() => server?.close());

/** Runs the main job against a server that gives these answers in turn, and returns the requests and the failure. */
async function failureAfter(answers: { status: number; headers?: Record<string, string>; body: object }[]) {
  const asked: string[] = [];
  server = createServer((request, response) => {
    const answer = answers[asked.length] ?? { status: 500, body: {} };
    asked.push(`${request.method} ${request.url}`);
    response.writeHead(answer.status, { "content-type": "application/json", ...answer.headers });
    response.end(JSON.stringify(answer.body));
  });
  await new Promise<void>((resolve) => server?.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // a server on a port has one
  const failure = await runMainJob({
    baseUrl: `http://127.0.0.1:${port}`,
    apiKey: "cap_development_x",
    projectId: "cpr_1",
  }).catch((error: Error) => error.message);
  return { asked, failure };
}

const tooFast = { status: 429, headers: { "retry-after": "0" }, body: { detail: { code: "RateLimited" } } };
const emptyCatalog = { status: 200, body: { capabilities: [], pricingVersion: "price_1" } };

test("a low rate limit slows the main job down and does not fail it", async () => {
  const { asked, failure } = await failureAfter([tooFast, tooFast, emptyCatalog]);
  expect(asked).toEqual(["GET /v1/capabilities", "GET /v1/capabilities", "GET /v1/capabilities"]);
  expect(failure).toBe("GET /v1/capabilities does not list text.general.fast.v1.");
});

test("a refusal other than 429 ends the main job with its answer", async () => {
  const { asked, failure } = await failureAfter([{ status: 503, body: { detail: "down" } }]);
  expect(asked).toHaveLength(1);
  expect(failure).toContain('GET /v1/capabilities answered 503: {"detail":"down"}');
});
