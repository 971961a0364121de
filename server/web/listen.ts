import type { Server } from "node:http";
import type { AddressInfo } from "node:net";

/** Listens, and returns the URL that reaches the server from here. Port 0 takes any free one. Rejects if it cannot listen. */
export async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
  const taken = server.address() as AddressInfo; // a TCP server that listens has one
  return `http://${host.includes(":") ? `[${host}]` : host}:${taken.port}`;
}
