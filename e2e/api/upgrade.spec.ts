import { once } from "node:events";
import { type IncomingMessage, request } from "node:http";
import { expect, test } from "@playwright/test";
import { world } from "../world";

/* curl with --http2 and Java's client offer HTTP/2 with every request that is not encrypted. */

const asked = async (path: string, headers: Record<string, string>) => {
  const sent = request(`${world.baseUrl}${path}`, { headers });
  sent.end();
  const [answer]: [IncomingMessage] = await once(sent, "response").then(([first]) => [first]);
  answer.resume();
  return answer.statusCode;
};

test("a client that offers another protocol is answered like one that does not, also after a page was requested", async () => {
  expect(await asked("/sign-in", {})).toBe(200);
  for (const [path, protocol] of [
    ["/healthz", "h2c"],
    ["/v1/capabilities", "h2c"],
    ["/v1/capabilities", "websocket"],
    ["/sign-in", "h2c"],
  ] as const) {
    const headers = {
      connection: "Upgrade, HTTP2-Settings",
      upgrade: protocol,
      "http2-settings": "AAMAAABk",
    };
    expect(await asked(path, headers), `${path} ${protocol}`).toBe(200);
  }
});
