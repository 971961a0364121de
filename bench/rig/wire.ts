import { connect, createServer, type Socket } from "node:net";

/** Counts since the last `take`: answers that let the client go on, and commands that were completed. */
export type Traffic = { roundTrips: number; statements: number };

const READY_FOR_QUERY = "Z".charCodeAt(0);
const COMMAND_COMPLETE = "C".charCodeAt(0);
const HEADER_BYTES = 5;

/**
 * Listens on a port of 127.0.0.1 between a program and PostgreSQL, and counts the messages of the server by their types.
 * https://www.postgresql.org/docs/current/protocol-message-formats.html
 */
export async function countTraffic(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const folder = target.searchParams.get("host"); // the folder of the server's socket, if it listens on no port
  let traffic: Traffic = { roundTrips: 0, statements: 0 };
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = folder
      ? connect(`${folder}/.s.PGSQL.${target.port}`)
      : connect(Number(target.port), target.hostname);
    const count = messageCounter((type) => {
      if (type === READY_FOR_QUERY) traffic.roundTrips++;
      if (type === COMMAND_COMPLETE) traffic.statements++;
    });
    client.setNoDelay(true);
    for (const socket of [client, upstream]) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => {
        client.destroy();
        upstream.destroy();
      });
    }
    client.pipe(upstream);
    upstream.on("data", count);
    upstream.pipe(client);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = new URL(databaseUrl);
  url.searchParams.delete("host");
  url.hostname = "127.0.0.1";
  url.port = String((server.address() as { port: number }).port); // the server listens on TCP
  return {
    url: url.href,
    take(): Traffic {
      const taken = traffic;
      traffic = { roundTrips: 0, statements: 0 };
      return taken;
    },
    close() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

/** Calls back with the type of each message of a stream, however the stream is cut into pieces. */
function messageCounter(onMessage: (type: number) => void): (piece: Buffer) => void {
  let header = Buffer.alloc(0);
  let skip = 0;
  return (piece) => {
    for (let at = 0; at < piece.length; ) {
      if (skip > 0) {
        const step = Math.min(skip, piece.length - at);
        skip -= step;
        at += step;
        continue;
      }
      const wanted = piece.subarray(at, at + HEADER_BYTES - header.length);
      header = Buffer.concat([header, wanted]);
      at += wanted.length;
      if (header.length < HEADER_BYTES) return;
      onMessage(header[0]!);
      skip = header.readUInt32BE(1) - 4; // the length counts itself
      header = Buffer.alloc(0);
    }
  };
}
