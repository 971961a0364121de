import { createServer } from "node:http";

/* Serves chat completions with one ready answer for everything; all gateways are put in front of it. */

const ANSWER = Buffer.from(
  JSON.stringify({
    id: "chatcmpl-bench",
    object: "chat.completion",
    created: 1_700_000_000,
    model: "bench",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: "The answer is always the same, and always at hand." },
        finish_reason: "stop",
      },
    ],
    usage: { prompt_tokens: 400, completion_tokens: 12, total_tokens: 412 },
  }),
);

createServer((request, response) => {
  request.resume();
  request.on("end", () => {
    response.writeHead(200, { "content-type": "application/json", "content-length": ANSWER.byteLength });
    response.end(ANSWER);
  });
}).listen(Number(process.argv[2]), "127.0.0.1");
