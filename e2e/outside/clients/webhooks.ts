import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";
import { call, runJob } from "../product";
import { type Row, versionOf, type World } from "../world";

/* Webhooks verified by the two libraries that most receivers use. */

type Delivery = { headers: Record<string, string>; body: string };
type Verifier = { verify(body: string, headers: Record<string, string>): unknown };

export function rows(world: World): Row[] {
  const secret = `whsec_${randomBytes(32).toString("base64")}`;
  let delivered: Promise<Delivery> | undefined;
  const row = (client: string, verifier: Verifier): Row => ({
    client,
    version: versionOf(client),
    door: "webhooks",
    checks: {
      async "a delivery is verified"() {
        delivered ??= deliver(world, secret);
        const { body, headers } = await delivered;
        verifier.verify(body, headers); // throws if the signature does not match
        assert.match(body, /job\./);
      },
      async "a changed delivery is refused"() {
        delivered ??= deliver(world, secret);
        const { body, headers } = await delivered;
        assert.throws(() => verifier.verify(`${body} `, headers));
      },
    },
  });
  return [row("standardwebhooks", new Standard(secret)), row("svix", new Svix(secret))];
}

/** Runs a job and returns the first request that is posted about it. */
async function deliver(world: World, secret: string): Promise<Delivery> {
  let arrive: (delivery: Delivery) => void = () => {};
  const arrived = new Promise<Delivery>((resolve) => {
    arrive = resolve;
  });
  const server = createServer(async (request, answer) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += chunk;
    answer.writeHead(204).end();
    arrive({ headers: request.headers as Record<string, string>, body }); // headers of a webhook are not repeated
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // set while it listens
  const endpoint = await call(world, "/v1/delivery-endpoints", {
    url: `http://127.0.0.1:${port}/hook`,
    secret,
  });
  try {
    await runJob(world);
    return await arrived;
  } finally {
    await call(world, `/v1/delivery-endpoints/${endpoint.endpointId}/disable`, {});
    server.closeAllConnections();
    server.close();
  }
}
