import { createServer } from "node:http";
import type { Pages } from "./server";

/**
 * Starts Next, for the requests that the server does not answer itself. With `dev`, Next compiles on demand
 * and reloads the browser.
 */
export async function startPages(options: { dev: boolean; host: string; port: number }): Promise<Pages> {
  const { default: next } = await import("next");
  const app = next({
    dev: options.dev,
    dir: ".",
    hostname: options.host,
    port: options.port,
    // Next listens for upgrades on the server that it finds and closes those it does not know. An offer of HTTP/2, as curl and
    // Java send it, must stay an ordinary request on our server, so Next gets a server of its own.
    httpServer: createServer(),
  });
  await app.prepare();
  const handle = app.getRequestHandler();
  const upgrade = app.getUpgradeHandler();
  return {
    handle: (request, response) => handle(request, response),
    ...(options.dev
      ? {
          upgrade: (request, socket, head) =>
            void upgrade(request, socket, head).catch(() => socket.destroy()),
        }
      : {}),
  };
}
