import type { Visit } from "./visit";

const HOST = "https://host.example";

/**
 * A page of another origin gets an embed session, passes a launch code to the frame, and works until the session is revoked.
 */
export async function openPanels(
  { keep, must, ask }: Visit,
  { key, projectId }: { key: string; projectId: string },
): Promise<void> {
  const body = { projectId, allowedOrigins: [HOST], maxSpendMicros: 10_000_000 };
  const made = await must("POST", "/v1/panel-sessions", { key, body });
  const token = keep("a session of a panel", made.accessToken);
  const launched = await must("POST", `/v1/panel-sessions/${made.sessionId}/launch-codes`, { key });
  const code = keep("a launch code", launched.code);
  // The code is pasted in the place of a name.
  await ask("GET", `/v1/capabilities/${code}`, { key });
  await ask("POST", `/v1/capabilities/${code}/quote`, { key, body: { input: {}, [code]: 1 } });
  await ask("POST", "/v1/chat/completions", { key, body: { model: code, messages: [] } });
  const ourPage = {
    origin: "http://localhost:3000",
    "sec-fetch-site": "same-origin",
    "content-type": "application/json",
  };
  const exchange = { headers: ourPage, body: { code } };
  const exchanged = await must("POST", "/v1/panel/launch-codes/exchange", exchange);
  keep("a session of a panel by its launch code", exchanged.accessToken);
  await ask("POST", "/v1/panel/launch-codes/exchange", exchange);
  const page = { key: token, headers: { origin: HOST, "content-type": "application/json" } };
  await must("GET", "/v1/panel/bootstrap", page);
  await ask("GET", "/v1/panel/bootstrap", { key: token });
  await ask("GET", `/v1/jobs/${token}`, page);
  const input = { messages: [{ role: "user", content: "How deep is the sea?" }] };
  await must("POST", "/v1/capabilities/text.general.fast.v1/jobs", { ...page, body: { input } });
  await must("GET", `/v1/panel-sessions/${made.sessionId}`, { key });
  await must("POST", `/v1/panel-sessions/${made.sessionId}/revoke`, { key });
  await ask("GET", "/v1/panel/bootstrap", page);
}
