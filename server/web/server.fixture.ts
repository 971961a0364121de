import { once } from "node:events";
import { type Agent, request as httpRequest, type IncomingMessage } from "node:http";
import { z } from "zod";
import { router } from "@/server/api/router";
import { makeTenant } from "@/testing/tenants";
import { startServer, type WebServer } from "./server";

export let tenant: Awaited<ReturnType<typeof makeTenant>>;
export let server: WebServer;

export async function openTenant(): Promise<void> {
  tenant = await makeTenant();
}

export const base = {
  summary: "",
  auth: ["anonymous", "service_principal"],
  output: z.json(),
  errors: [],
} as const;

/** Calls without fetch's conveniences, so that odd requests can be made. */
export async function call(
  path: string,
  options: { method?: string; headers?: Record<string, string>; body?: string | Buffer; agent?: Agent } = {},
) {
  const { body, ...rest } = options;
  const request = httpRequest(`${server.url}${path}`, rest);
  request.end(body);
  const [response]: [IncomingMessage] = await once(request, "response").then(([first]) => [first]);
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk);
  return {
    status: response.statusCode ?? 0,
    headers: response.headers,
    body: Buffer.concat(chunks).toString(),
  };
}

export async function startWith(options: Parameters<typeof startServer>[0]): Promise<void> {
  server = await startServer(options);
}
export const start = (...endpoints: Parameters<typeof router>[0][number][]) =>
  startWith({ host: "127.0.0.1", port: 0, pages: null, route: router(endpoints) });
