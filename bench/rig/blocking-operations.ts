import { request as ask } from "undici";
import { filled, toNode } from "../../testing/tenant-matrix/schema";
import type { Schema } from "./inflate";

/* Lists every route that takes JSON, with a small body for each, which most routes accept; the goal of blocking inflates it. */

export type Operation = {
  name: string;
  /** Method and path as they are declared: capabilities share the routes of their verbs. */
  route: string;
  method: "POST" | "PUT" | "PATCH" | "DELETE";
  path: string;
  /** Largest size of a body, in bytes. */
  limit: number;
  /** Schema of the value that is inflated; `base` is a small value of it. */
  schema: Schema;
  base: unknown;
  /** Makes the body's text around an inflated value. */
  toBody(value: unknown): string;
};

const MEGABYTE = 1024 * 1024;
const TEXT = "text.general.fast.v1";
const messages = [{ role: "user", content: "How deep is the sea?" }];
const PER_CAPABILITY = ["quote", "estimate", "invoke", "jobs"];
const PIN = { provider: "sandbox", model: "sandbox-1", api: "responses" };

/** Bodies that are accepted, for routes that refuse the least that their schema asks for. */
const BASES: Record<string, unknown> = {
  "POST /v1/inference/pinned": { pin: PIN, input: "How deep?" },
  "POST /v1/inference/pinned/bulk": { pin: PIN, items: [{ id: "one", input: "How deep?" }] },
  "POST /v1/chat/completions": { model: TEXT, messages },
  "POST /v1/embeddings": { model: "text.embed.v1", input: "How deep?" },
  "POST /v1/responses": { model: TEXT, input: "How deep?" },
  "POST /v1/capabilities/{capability_key}/comparisons": {
    context: {},
    competitors: [1, 2].map((n) => ({ axis: "provider", providerPin: `sandbox/sandbox-${n}` })),
    input: { messages },
  },
  "POST /v1/capabilities/{capability_key}/comparisons/estimate": {
    competitors: [1, 2].map((n) => ({ axis: "provider", providerPin: `sandbox/sandbox-${n}` })),
    input: { messages },
  },
};

export async function operationsOf(url: string, apiKey: string, projectId: string): Promise<Operation[]> {
  // The service is loaded here, so that other goals do not carry it.
  const { endpoints } = await import("@/server/operations");
  const { mcp } = await import("@/server/api/mcp");
  const { capabilities } = await import("@/server/capabilities/registry.gen");
  const { InvokeRequest } = await import("@/server/contract/envelope");
  const { PinnedBulkRequest, PinnedRequest } = await import("@/server/contract/pinned");
  const { Lockfile } = await import("@/server/contract/provenance");
  const SCHEMAS: Record<string, Schema> = {
    "POST /v1/inference/pinned": toNode(PinnedRequest),
    "POST /v1/inference/pinned/bulk": toNode(PinnedBulkRequest),
    "POST /v1/provenance/lockfile/verify": toNode(Lockfile),
  };
  const artifacts = await uploadSources(url, apiKey, projectId);
  const operations: Operation[] = [];
  const context = { projectId };
  for (const endpoint of [...endpoints, mcp]) {
    const { method, path, body, bodyLimit: limit = MEGABYTE } = endpoint;
    if (!body || method === "GET") continue;
    const verb = path.split("/").at(-1) ?? "";
    const route = `${method} ${path}`;
    if (PER_CAPABILITY.includes(verb) && path.startsWith("/v1/capabilities/{capability_key}/")) {
      for (const capability of capabilities) {
        const at = path.replace("{capability_key}", capability.key);
        const example = JSON.stringify(capability.examples[0]?.input ?? {});
        const input = JSON.parse(
          example.replaceAll(/"art_\w+"/g, JSON.stringify(artifacts[capability.key] ?? artifacts.picture)),
        );
        const toBody = (value: unknown) => JSON.stringify({ context, input: value });
        const schema = toNode(capability.input);
        operations.push({
          name: `${method} ${at}`,
          route,
          method,
          path: at,
          limit,
          schema,
          base: input,
          toBody,
        });
        if (capability.key === TEXT && verb !== "estimate")
          operations.push({
            name: `${method} ${at}, the envelope`,
            route,
            method,
            path: at,
            limit,
            schema: toNode(InvokeRequest),
            base: { context, input },
            toBody: JSON.stringify,
          });
      }
      continue;
    }
    const schema = SCHEMAS[route] ?? toNode(body);
    const base = filled(schema, withProject(BASES[route], schema, projectId), (field) => `some ${field}`);
    const target = path.replace("{capability_key}", TEXT).replaceAll(/\{\w+\}/g, "none");
    operations.push({
      name: route,
      route,
      method,
      path: `${target}${endpoint.query && "projectId" in endpoint.query.shape ? `?projectId=${projectId}` : ""}`,
      limit,
      schema,
      base,
      toBody: JSON.stringify,
    });
  }
  for (const [tool, key] of [
    ["quote_capability", "image.edit.v1"],
    ["submit_job", "image.edit.v1"],
    ["invoke", TEXT],
  ] as const) {
    const capability = capabilities.find((each) => each.key === key);
    if (!capability) continue;
    operations.push({
      name: `POST /mcp ${tool} of ${key}`,
      route: `POST /mcp ${tool}`,
      method: "POST",
      path: "/mcp",
      limit: 32 * MEGABYTE,
      schema: toNode(capability.input),
      base: capability.examples[0]?.input,
      toBody: (input) =>
        JSON.stringify({
          jsonrpc: "2.0",
          id: 1,
          method: "tools/call",
          params: { name: tool, arguments: { capability_key: key, request: { context, input } } },
        }),
    });
  }
  return operations;
}

function withProject(base: unknown, schema: Schema, projectId: string): unknown {
  const { properties = {} } = schema;
  return {
    ...(base as object | undefined),
    ...("projectId" in properties
      ? { projectId }
      : "context" in properties
        ? { context: { projectId } }
        : {}),
  };
}

/**
 * Uploads a picture and a PDF. Returns their ids by the capability that reads them; `picture` is for all others.
 */
async function uploadSources(
  url: string,
  apiKey: string,
  projectId: string,
): Promise<Record<string, string>> {
  const { makePdf } = await import("../../testing/pdf");
  const upload = async (bytes: Uint8Array, type: string) => {
    const answer = await ask(`${url}/v1/artifacts?projectId=${projectId}`, {
      method: "POST",
      headers: { authorization: `Bearer ${apiKey}`, "content-type": type },
      body: bytes,
    });
    const { artifactId } = (await answer.body.json()) as { artifactId: string };
    return artifactId;
  };
  const square = Buffer.from(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
    "base64",
  );
  return {
    picture: await upload(square, "image/png"),
    "document.verify.v1": await upload(await makePdf(["Total: 118.40 EUR"]), "application/pdf"),
  };
}
