import { expect, test } from "vitest";
import { COMMON_ERRORS, type Endpoint } from "@/server/api/endpoint";
import { openapi, responseOf } from "@/server/api/openapi/openapi";
import { pathFinder } from "@/server/api/path";
import { OpenAIError } from "@/server/contract/openai";
import { ERRORS, type ErrorCode } from "@/server/platform/errors/errors";
import { publicUrl } from "@/server/platform/settings/env";
import { VERSION } from "@/server/platform/settings/version";
import { type Answer, type Call, call } from "@/testing/api";
import { endpoints } from "..";
import { casesOf, nameOf, type Part } from "./parts.fixture";

/*
 * One case for each status that an endpoint can return. `ask` records every answer and checks what all answers have in
 * common; the law at the end of each file compares the recorded answers with those that the endpoints of its part declare.
 */

/** The recorded statuses and codes, by endpoint. */
const seen = new Set<string>();
const found = endpoints.map((endpoint) => ({
  endpoint,
  find: pathFinder([[endpoint.path, endpoint]]),
}));

function endpointOf(method: string, target: string): Endpoint | undefined {
  const { pathname } = new URL(target, "http://capstan.test");
  // Prefers a literal path over a parameter, as the router does.
  const matching = found.filter(({ endpoint, find }) => endpoint.method === method && find(pathname));
  return matching.sort((a, b) => parametersIn(a.endpoint) - parametersIn(b.endpoint))[0]?.endpoint;
}

const parametersIn = (endpoint: Endpoint) => endpoint.path.split("{").length;

export type ExpectedStatus = number | [number, ErrorCode | "list"];

/**
 * Sends a request, expects this status (and code, or a list of field errors), and checks the common properties of answers.
 */
export async function ask(
  wanted: ExpectedStatus,
  method: string,
  target: string,
  options: Call = {},
): Promise<Answer> {
  const answer = await call(method, target, options);
  check(answer, wanted, method, target);
  return answer;
}

export function check(answer: Answer, wanted: ExpectedStatus, method: string, target: string): void {
  const [status, code] = Array.isArray(wanted) ? wanted : [wanted, undefined];
  const endpoint = endpointOf(method === "HEAD" ? "GET" : method, target);
  expect(answer.status, JSON.stringify(answer.json?.detail ?? answer.json?.error)).toBe(status);
  if (endpoint) {
    seen.add(`${nameOf(endpoint)} ${status}`);
    checkDocumented(answer, endpoint);
  }

  const { headers } = answer;
  // A 429 names the time to retry, in the header and beside the code.
  if (status === 429) {
    expect(headers["retry-after"]).toMatch(/^[1-9]\d*$/);
    expect(detailsOf(answer).retryAfterSeconds).toBe(Number(headers["retry-after"]));
  }
  expect(headers["x-request-id"]).toMatch(/^[A-Za-z0-9._:-]{1,128}$/);
  expect(headers["x-capstan-version"]).toBe(VERSION);
  for (const name of ["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"]) {
    expect(headers[name]).toMatch(/^\d+$/);
  }
  expect(headers["ratelimit-policy"]).toMatch(/^\d+;w=60;burst=\d+$/);
  expect(headers["x-content-type-options"]).toBe("nosniff");

  if (status >= 400 && endpoint?.refusals) checkOpenAIRefusal(answer, endpoint, code);
  else if (status >= 400) checkRefusal(answer, endpoint, code);
  else if (status === 204 || status === 304) expect(answer.bytes.byteLength).toBe(0);
  else if (endpoint && !("rawMediaType" in endpoint.output)) {
    expect(headers["content-type"]).toBe("application/json");
    // A response has only fields of the contract.
    expect(endpoint.output.parse(answer.json)).toEqual(answer.json);
  }
}

const document = openapi(endpoints);

/** Expects the status and the media type of the answer to be in the OpenAPI document. */
function checkDocumented({ status, headers, bytes }: Answer, endpoint: Endpoint) {
  const documented = responseOf(
    document,
    document.paths[endpoint.path]?.[endpoint.method.toLowerCase()],
    String(status),
  );
  expect(documented, `${nameOf(endpoint)} ${status} is in the document`).toBeDefined();
  if (bytes.byteLength === 0) return;
  const types = Object.keys(documented?.content ?? {});
  if (!types.includes("*/*")) expect(types).toContain(headers["content-type"]?.split(";")[0]);
}

/** The same checks in OpenAI's shape, in which a list of field errors becomes one message and our code. */
function checkOpenAIRefusal(answer: Answer, endpoint: Endpoint, code: ErrorCode | "list" | undefined) {
  const { error } = OpenAIError.parse(answer.json);
  expect(answer.json).toEqual({ error });
  expect(error).toMatchObject(headIn(answer));
  const actual = error.code as ErrorCode; // the next lines look up its row
  if (code) expect(actual).toBe(code === "list" ? "InvalidInput" : code);
  expect(ERRORS[actual].status).toBe(answer.status);
  expect([...endpoint.errors, ...COMMON_ERRORS, "InvalidInput"]).toContain(actual);
  if (!ERRORS[actual].retryable && actual !== "JobStillRunning")
    expect(answer.headers["x-should-retry"]).toBe("false");
  seen.add(`${nameOf(endpoint)} ${actual}`);
}

/** The common fields of an error; in OpenAI's shape they are inside `error`. */
const headIn = ({ headers, json }: Answer) => ({
  code: expect.any(String),
  message: expect.stringMatching(/\S/),
  requestId: headers["x-request-id"],
  docsUrl: `${publicUrl}/docs/errors/${(json.error ?? json).code}.md`,
});

/** The details of an error, in either shape. */
export const detailsOf = ({ json }: Answer) => json.error?.details ?? json.detail.details;

const ZODS_WORDS =
  /^(Too (small|big)|Invalid (input|option|string|number|key|value|element|discriminator)|Unrecognized key)/;

function checkRefusal(answer: Answer, endpoint: Endpoint | undefined, code: ErrorCode | "list" | undefined) {
  if (answer.json === undefined) return expect(answer.bytes.byteLength).toBe(0); // the response to HEAD
  const { detail, ...top } = answer.json;
  expect(top).toMatchObject(headIn(answer));
  if (Array.isArray(detail)) {
    expect(code ?? "list").toBe("list");
    expect(top).toEqual({ ...headIn(answer), code: "InvalidInput" });
    expect(answer.status).toBe(422);
    for (const issue of detail) {
      expect(issue).toMatchObject({
        loc: expect.any(Array),
        msg: expect.any(String),
        type: expect.any(String),
      });
      expect(["body", "query", "path", "header"]).toContain(issue.loc[0]);
      expect(issue.msg).not.toBe("");
      // The message is our own, not the validation library's.
      expect(issue.msg).not.toMatch(ZODS_WORDS);
      // An index of a list is a number, not its digits.
      expect(issue.loc.filter((part: unknown) => typeof part === "string" && /^\d+$/.test(part))).toEqual([]);
    }
    return;
  }
  expect(detail.message).toMatch(/\S/);
  if (code) expect(detail.code).toBe(code);
  expect(top).toMatchObject({ code: detail.code, message: detail.message });
  const row = ERRORS[detail.code as ErrorCode];
  expect(row.status).toBe(answer.status);
  // The error tells the client whether it may retry.
  const guidance = { retryable: row.retryable, nextAction: row.next };
  if (row.status === 429 || row.status >= 500) expect(detail).toMatchObject(guidance);
  if (!endpoint) return;
  expect([...endpoint.errors, ...COMMON_ERRORS]).toContain(detail.code);
  seen.add(`${nameOf(endpoint)} ${detail.code}`);
  const named = detail.code === "IdempotencyConflict" ? { jobId: detail.details.jobId } : {};
  const head = headIn(answer);
  if (!endpoint.envelopeErrors) return expect(top).toEqual({ ...head, ...named });
  const { jobId: _named, ...admission } = top;
  const { code: refusal, message, ...fields } = detail;
  const isInline = "inline" in ERRORS[detail.code as ErrorCode];
  expect(admission).toEqual({
    ...head,
    ...(isInline ? { code: refusal, message, details: fields } : detail),
  });
}

/** The law of a part, called at the end of its file. */
export function everyStatusHasACase(part: Part): void {
  test("every status and declared code of the part's endpoints has a case", () => {
    expect(casesOf(part).filter((each) => !seen.has(each))).toEqual([]);
  });
}
