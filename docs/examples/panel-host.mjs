/*
 * A host page with a Capstan embed, in one file without dependencies:
 *
 *   CAPSTAN_URL=http://localhost:3000 CAPSTAN_API_KEY=cap_… CAPSTAN_PROJECT=cpr_… node docs/examples/panel-host.mjs
 *
 * The key stays here. The page gets a session, which is limited in money and jobs and bound to this origin.
 */
import { createServer } from "node:http";

const {
  CAPSTAN_URL = "http://localhost:3000",
  CAPSTAN_API_KEY,
  CAPSTAN_PROJECT,
  PORT = "4100",
} = process.env;
const KEY = "example-panel";
const origin = `http://localhost:${PORT}`;

async function ask(path, body) {
  const answer = await fetch(CAPSTAN_URL + path, {
    method: body ? "POST" : "GET",
    headers: { authorization: `Bearer ${CAPSTAN_API_KEY}`, "content-type": "application/json" },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
  if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
  return answer.json();
}

const { definitions } = await ask(`/v1/panel-definitions?projectId=${CAPSTAN_PROJECT}`);
if (!definitions.some(({ key }) => key === KEY))
  await ask("/v1/panel-definitions", {
    key: KEY,
    displayName: "Picture studio",
    capabilityKey: "image.generate.v1",
    projectId: CAPSTAN_PROJECT,
    policy: { maxOutputs: 2 },
  });

const page = `<!doctype html><html lang="en"><title>Host page</title><meta name="viewport" content="width=device-width">
<main><h1>Someone else's page</h1>
<capstan-panel session-endpoint="/session"></capstan-panel></main>
<script src="${CAPSTAN_URL}/capstan-panel.js"></script>
<script>
  const panel = document.querySelector("capstan-panel");
  window.heard = [];
  for (const name of ["capstan-ready", "capstan-job-submitted", "capstan-job-completed", "capstan-error"])
    panel.addEventListener(name, ({ detail }) => window.heard.push({ name, ...detail }));
</script>`;

createServer(async (request, response) => {
  if (request.url === "/session" && request.method === "POST") {
    // A real host checks here who is signed in, and creates a session for that person.
    const session = await ask("/v1/panel-sessions", {
      projectId: CAPSTAN_PROJECT,
      panelDefinitionKey: KEY,
      allowedOrigins: [origin],
      maxSpendMicros: 2_000_000,
      maxJobs: 5,
      expiresInMinutes: 15,
      initialInputs: { prompt: "A kite over the dunes" },
      lockedInputs: { variantCount: 1 },
    });
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" });
    return response.end(JSON.stringify({ sessionId: session.sessionId, accessToken: session.accessToken }));
  }
  response.writeHead(200, { "content-type": "text/html; charset=utf-8" });
  response.end(page);
}).listen(Number(PORT), "127.0.0.1", () => console.log(`${origin} shows an embed of ${CAPSTAN_URL}`));
