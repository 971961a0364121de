import { postV1CapabilitiesCapabilityKeyJobs } from "../generated/orval";

/** Submits a question with orval's functions, and returns the job's id. Its URLs are relative, as in a page. */
export async function ask(baseUrl: string, apiKey: string, content: string): Promise<string> {
  const relative = globalThis.fetch;
  globalThis.fetch = (url, init) => relative(new URL(String(url), baseUrl), init);
  try {
    const answer = await postV1CapabilitiesCapabilityKeyJobs(
      "text.general.fast.v1",
      { input: { messages: [{ role: "user", content }] } },
      { headers: { authorization: `Bearer ${apiKey}` } },
    );
    if (answer.status !== 200) throw new Error(JSON.stringify(answer.data));
    return answer.data.jobId;
  } finally {
    globalThis.fetch = relative;
  }
}
