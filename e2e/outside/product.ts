import type { World } from "./world";

/** Calls the product's own interface and returns the response, which must be a success. */
// biome-ignore lint/suspicious/noExplicitAny: a check reads answers of every shape
export async function call(world: World, path: string, body?: object): Promise<any> {
  const answer = await fetch(new URL(path, world.productUrl), {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${world.apiKey}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${text}`);
  return JSON.parse(text);
}

/** Submits a durable job to the sandbox; returns its id. */
export async function runJob(world: World): Promise<string> {
  const input = { messages: [{ role: "user", content: "Tell me of lighthouses." }] };
  return (await call(world, "/v1/capabilities/text.general.fast.v1/jobs", { input })).jobId;
}
