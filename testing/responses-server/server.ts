import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { sha256Hex } from "@/server/platform/text/canonical";

/*
 * A server of the OpenAI Responses protocol that fails on purpose, byte by byte. It speaks HTTP over plain sockets, so that
 * it can break off anywhere. Each request is written to a log on disk before the server responds.
 */

/** A request, as far as it has arrived. */
export type Request = {
  /** The number of the request in this script, from 1. */
  turn: number;
  attemptId: string;
  headers: Record<string, string>;
  body: Buffer;
};

/** The behaviour of one listener. Each step may end the connection; absent steps behave normally. */
export type Script = {
  /** Called when a client connects. */
  onConnect?(socket: Socket): void;
  /** Called after the head, before the body is read. True ends the exchange. */
  onHead?(socket: Socket, request: Request): boolean;
  /** Called after half of the body. True ends the exchange. */
  onHalf?(socket: Socket, request: Request): boolean;
  /** Called with the whole request. */
  answer?(socket: Socket, request: Request): void;
};

/** One request as it arrived. */
export type Arrival = {
  script: string;
  attemptId: string;
  /** The bytes of the body that had arrived when it was logged; the hash is set if it was whole. */
  bytes: number;
  sha256: string | null;
};

export type ResponsesServer = {
  /** Opens a listener with this behaviour; returns its base URL. */
  open(name: string, script: Script): Promise<string>;
  /** The requests to a script, by the log on disk. */
  arrived(name: string): Arrival[];
  connections(name: string): number;
  stop(): Promise<void>;
};

export function startResponsesServer(dataDir: string): ResponsesServer {
  mkdirSync(dataDir, { recursive: true });
  const log = join(dataDir, "arrivals.ndjson");
  const servers: Server[] = [];
  const sockets = new Set<Socket>();
  const connections = new Map<string, number>();

  const open = async (name: string, script: Script) => {
    let turns = 0;
    const server = createServer((socket) => {
      sockets.add(socket);
      connections.set(name, (connections.get(name) ?? 0) + 1);
      socket.on("error", () => {});
      socket.on("close", () => sockets.delete(socket));
      script.onConnect?.(socket);
      if (socket.destroyed) return;
      readRequests(
        socket,
        script,
        () => ++turns,
        (arrival) => appendFileSync(log, `${JSON.stringify({ script: name, ...arrival })}\n`),
      );
    });
    servers.push(server);
    await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
    const address = server.address();
    return `http://127.0.0.1:${typeof address === "object" && address ? address.port : 0}`;
  };

  return {
    open,
    arrived(name) {
      const lines = existsSync(log) ? readFileSync(log, "utf8").trim().split("\n") : [];
      const arrivals = lines.map((line): Arrival => JSON.parse(line));
      return arrivals.filter(({ script }) => script === name);
    },
    connections: (name) => connections.get(name) ?? 0,
    async stop() {
      for (const socket of sockets) socket.destroy();
      await Promise.all(servers.map((server) => new Promise((closed) => server.close(closed))));
    },
  };
}

/** Reads requests from a connection one after the other, and plays the script for each. */
function readRequests(
  socket: Socket,
  script: Script,
  turnOf: () => number,
  log: (arrival: Omit<Arrival, "script">) => void,
): void {
  let received: Buffer = Buffer.alloc(0);
  let request: (Request & { length: number; isLogged: boolean; isHalved: boolean }) | null = null;

  const write = (): void => {
    if (!request || request.isLogged) return;
    request.isLogged = true;
    const isWhole = request.body.byteLength === request.length;
    const { attemptId, body } = request;
    log({ attemptId, bytes: body.byteLength, sha256: isWhole ? sha256Hex(body) : null });
  };
  /** Plays the script for the bytes received so far. True if another request may follow in them. */
  const play = (): boolean => {
    if (!request) {
      const end = received.indexOf("\r\n\r\n");
      if (end < 0) return false;
      const headers = readHeaders(received.subarray(0, end).toString("latin1"));
      received = received.subarray(end + 4);
      const attemptId = headers["x-client-request-id"] ?? "";
      const length = Number(headers["content-length"] ?? 0);
      const turn = turnOf();
      request = { turn, attemptId, headers, body: Buffer.alloc(0), length, isLogged: false, isHalved: false };
      if (script.onHead) write();
      if (script.onHead?.(socket, request)) return done();
    }
    request.body = received.subarray(0, request.length);
    if (script.onHalf && !request.isHalved && request.body.byteLength >= request.length / 2) {
      request.isHalved = true;
      write();
      if (script.onHalf(socket, request)) return done();
    }
    if (request.body.byteLength < request.length) return false;
    const whole = request;
    write();
    received = received.subarray(request.length);
    request = null;
    script.answer?.(socket, whole);
    return received.byteLength > 0;
  };
  /** Stops reading; later bytes are discarded. */
  const done = () => {
    socket.off("data", take);
    socket.resume();
    return false;
  };
  const take = (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (play());
  };
  socket.on("data", take);
}

function readHeaders(head: string): Record<string, string> {
  const [, ...lines] = head.split("\r\n");
  return Object.fromEntries(
    lines.map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
    }),
  );
}
