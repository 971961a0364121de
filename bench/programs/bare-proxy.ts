import { createServer } from "node:http";
import { Pool } from "undici";

/* The floor of a gateway in Node: takes a whole body, sends it on, sends the whole answer back. Looks at nothing. */

const [port, upstream = ""] = process.argv.slice(2);
const pool = new Pool(upstream, { connections: 256, pipelining: 1 });

createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on("data", (chunk: Buffer) => chunks.push(chunk));
  request.on("end", async () => {
    const answer = await pool.request({
      path: "/v1/chat/completions",
      method: "POST",
      headers: { "content-type": "application/json" },
      body: Buffer.concat(chunks),
    });
    const body = Buffer.from(await answer.body.arrayBuffer());
    response.writeHead(answer.statusCode, {
      "content-type": "application/json",
      "content-length": body.byteLength,
    });
    response.end(body);
  });
}).listen(Number(port), "127.0.0.1");
