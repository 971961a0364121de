import dns from "node:dns";
import { createServer } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import { type AddressInfo, isIP, type LookupFunction, Socket } from "node:net";
import tls, { type TLSSocket } from "node:tls";
import { SELF_SIGNED, SELF_SIGNED_ELSEWHERE } from "./self-signed";

export type PlayedInternet = Awaited<ReturnType<typeof playInternet>>;

/** The target options of a socket. */
type To = { host?: string; port?: number | string; lookup?: LookupFunction };

const { connect } = Socket.prototype;
const { createSecureContext } = tls;
const { lookup } = dns;

/**
 * Simulates hosts of the internet until `stop`: names resolve as `names` says, connections to addresses outside 127.0.0.0/8
 * lead to a TLS server on this machine whose certificate is trusted, and every TCP connection of this process is recorded first.
 */
export async function playInternet() {
  const arrived: { url: string; host: string; name: string }[] = [];
  const attempts: string[] = [];
  const world = { arrived, attempts, names: {} as Record<string, string[]> }; // filled by tests
  const server = createServer(SELF_SIGNED_ELSEWHERE, (request, response) => {
    const { servername } = request.socket as TLSSocket; // sockets of a TLS server are TLSSockets
    arrived.push({ url: request.url ?? "", host: request.headers.host ?? "", name: servername || "" });
    if (request.url === "/moved") response.writeHead(302, { location: "https://inside.example/" });
    request.resume().on("end", () => response.end('{"ok":true}'));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address() as AddressInfo; // set while it listens

  Socket.prototype.connect = function (this: Socket, ...given: [To | [To, unknown], ...unknown[]]) {
    const [to, ...rest] = Array.isArray(given[0]) ? given[0] : (given as [To, ...unknown[]]);
    const go = (address: string) => {
      attempts.push(`${address} ${to.port}`);
      const isHere = address.startsWith("127.");
      const where = isHere ? to : { ...to, host: "127.0.0.1", port, lookup: undefined };
      return Reflect.apply(connect, this, [where, ...rest]);
    };
    const { host } = to;
    if (!host) return Reflect.apply(connect, this, given); // a Unix socket
    if (isIP(host) !== 0) return go(host);
    (to.lookup ?? dns.lookup)(host, { all: true }, (error, found) => {
      const [first] = Array.isArray(found) ? found : [];
      if (error || !first) setImmediate(() => this.destroy(error ?? undefined));
      else go(first.address);
    });
    return this;
  } as typeof connect;
  // This process trusts the tests' certificates, as with NODE_EXTRA_CA_CERTS.
  const ca = [SELF_SIGNED.cert, SELF_SIGNED_ELSEWHERE.cert];
  tls.createSecureContext = (options) => createSecureContext({ ca, ...options });
  dns.lookup = ((name: string, ...rest: [unknown, (...result: unknown[]) => void]) => {
    const known = world.names[name]?.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
    if (known) rest[1](null, known);
    else if (isIP(name) !== 0) Reflect.apply(lookup, dns, [name, ...rest]);
    else rest[1](Object.assign(new Error("unknown"), { code: "ENOTFOUND" }), []);
  }) as typeof lookup;
  syncBuiltinESMExports();

  return Object.assign(world, {
    port,
    /** Connects to the server without recording it, for the proxy's own connections. */
    reach: (): Socket => Reflect.apply(connect, new Socket(), [port, "127.0.0.1"]),
    /** Clears the records. */
    begin() {
      world.names = {};
      arrived.length = 0;
      attempts.length = 0;
    },
    async stop() {
      Socket.prototype.connect = connect;
      tls.createSecureContext = createSecureContext;
      dns.lookup = lookup;
      syncBuiltinESMExports();
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  });
}
