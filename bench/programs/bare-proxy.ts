import { createServer } from "node:http";
import pg from "pg";
import { Pool } from "undici";

/*
 * This program is the floor of a gateway in Node: it reads a whole body, sends it on and sends the whole answer back, without
 * parsing either. Given a database, it is the floor of a gateway that stores its calls: it commits a row of the request before
 * the first byte leaves, and a row of the answer before the answer.
 */

const [port, upstream = "", databaseUrl] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 256, pipelining: 1 });
const database = databaseUrl ? new pg.Pool({ connectionString: databaseUrl, max: 10 }) : null;
await database?.query(
  "CREATE TABLE kept (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, content text NOT NULL)",
);

const keep = (content: Buffer) =>
  database?.query({
    name: "keep",
    text: "INSERT INTO kept (content) VALUES ($1)",
    values: [content.toString()],
  });

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", async () => {
    const asked = Buffer.concat(chunks);
    await keep(asked);
    const answer = await pool.request({
      path: "/v1/chat/completions",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: asked,
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    await keep(body);
    response.writeHead(answer.statusCode, {
      "content-type": "application/json",
      "content-length": body.byteLength,
    });
    response.end(body);
  });
}).listen(Number(port), "127.0.0.1");
