import createClient from "openapi-fetch";
import type { paths } from "../generated/openapi-typescript";

/** Submits a question with openapi-typescript's types, and returns the job's id. */
export async function ask(baseUrl: string, apiKey: string, content: string): Promise<string> {
  const client = createClient<paths>({ baseUrl, headers: { authorization: `Bearer ${apiKey}` } });
  const { data, error } = await client.POST("/v1/capabilities/{capability_key}/jobs", {
    params: { path: { capability_key: "text.general.fast.v1" } },
    body: { input: { messages: [{ role: "user", content }] } },
  });
  if (!data) throw new Error(JSON.stringify(error));
  return data.jobId;
}
