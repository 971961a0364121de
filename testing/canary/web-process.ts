import { register } from "node:module";
import { identifyCaller } from "@/server/api/auth";
import { toIncoming } from "@/server/api/next";
import { type Ctx, systemClock } from "@/server/domain/ctx";
import * as organizations from "@/server/domain/organizations";
import { newId } from "@/server/platform/ids";
import { log } from "@/server/platform/log/log";
import { servePanel } from "@/server/trpc/serve";
import { startServer } from "@/server/web/server";

/* The web process with the panel's entry points that are not pages: tRPC, and sign-in by password and with a provider. */

async function ctxOf(request: Request): Promise<Ctx> {
  const requestId = newId("request");
  const nobody = { kind: "anonymous", id: "anonymous", address: "" } as const;
  const principal = await identifyCaller(toIncoming(request), { now: systemClock(), headers: {} }).catch(
    () => nobody,
  );
  return { principal, requestId, now: systemClock, log: log.child({ requestId }) };
}

register("./as-bundled.mjs", import.meta.url);

/** The handlers of `/api/auth`, over HTTP. */
async function signIn(request: Request): Promise<Response> {
  const { askHandlers } = await import("@/testing/sign-in-browser");
  const cookies = (request.headers.get("cookie") ?? "").split("; ").map((pair): [string, string] => {
    const [name = "", ...value] = pair.split("=");
    return [name, decodeURIComponent(value.join("="))];
  });
  const form =
    request.method === "POST" ? Object.fromEntries(new URLSearchParams(await request.text())) : undefined;
  const page = await askHandlers({
    url: new URL(request.url),
    cookies: Object.fromEntries(cookies),
    form,
    address: "203.0.113.7",
  });
  const headers = new Headers(page.setCookies.map((line): [string, string] => ["set-cookie", line]));
  if (page.location) headers.set("location", page.location.href);
  return new Response(JSON.stringify(page.body), { status: page.status, headers });
}

async function handle(request: Request): Promise<Response> {
  if (new URL(request.url).pathname === "/fails") throw new Error("a page failed");
  if (new URL(request.url).pathname.startsWith("/api/auth/")) return signIn(request);
  if (new URL(request.url).pathname !== "/sign-in") return servePanel(request, () => ctxOf(request));
  const { email, password } = (await request.json()) as { email: string; password: string }; // the test sends it
  const credentials = { email, password, address: "203.0.113.7" };
  return Response.json(await organizations.verifySignIn(await ctxOf(request), credentials));
}

const server = await startServer({
  host: "127.0.0.1",
  port: 0,
  pages: {
    async handle(request, response) {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer); // a stream without an encoding yields buffers
      const answer = await handle(
        new Request(new URL(request.url ?? "/", "http://127.0.0.1"), {
          method: request.method,
          headers: Object.entries(request.headers).map(([name, value]): [string, string] => [
            name,
            String(value),
          ]),
          ...(chunks.length > 0 ? { body: Buffer.concat(chunks) } : {}),
        }),
      );
      const headers = { ...Object.fromEntries(answer.headers), "set-cookie": answer.headers.getSetCookie() };
      response.writeHead(answer.status, headers).end(await answer.text());
    },
  },
});
process.send?.({ url: server.url });
process.once("SIGTERM", () => void server.stop(1_000).then(() => process.exit(0)));
