import { postV1CapabilitiesCapabilityKeyJobs } from "../generated/openapi-ts";
import { client } from "../generated/openapi-ts/client.gen";

/** Submits a question with hey-api's functions, and returns the job's id. */
export async function ask(baseUrl: string, apiKey: string, content: string): Promise<string> {
  client.setConfig({ baseUrl, auth: apiKey });
  const { data } = await postV1CapabilitiesCapabilityKeyJobs({
    path: { capability_key: "text.general.fast.v1" },
    body: { input: { messages: [{ role: "user", content }] } },
    throwOnError: true,
  });
  return data.jobId;
}
