import OpenAI, { APIError } from "openai";
import { afterAll, beforeAll, expect } from "vitest";
import { startServer, type WebServer } from "@/server/web/server";
import { makeTenant, type Tenant } from "@/testing/api";

/** A tenant, a web server and OpenAI's unmodified client, for the tests of a file. */
export function serveOpenAI(options: { maxRetries?: number } = {}) {
  // The fields are set before the first test.
  const world = {} as {
    tenant: Tenant;
    server: WebServer;
    client: OpenAI;
    clientOf(apiKey: string, more?: object): OpenAI;
  };
  beforeAll(async () => {
    const tenant = await makeTenant();
    const server = await startServer({ host: "127.0.0.1", port: 0, pages: null });
    const clientOf = (apiKey: string, more: object = {}) =>
      new OpenAI({ apiKey, baseURL: `${server.url}/v1`, ...options, ...more });
    Object.assign(world, { tenant, server, clientOf, client: clientOf(tenant.key) });
  });
  afterAll(() => world.server.stop(1_000));
  return world;
}

/** The error of OpenAI's client with which a call rejects. */
export async function refusal(work: Promise<unknown>): Promise<APIError> {
  const error = await work.then(
    () => null,
    (cause) => cause,
  );
  expect(error).toBeInstanceOf(APIError);
  return error;
}

/** A JSON Schema of an object with one text field. */
export const parametersOf = (name: string) => ({
  type: "object",
  properties: { [name]: { type: "string" } },
  required: [name],
  additionalProperties: false,
});
