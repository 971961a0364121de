import { randomBytes } from "node:crypto";
import sharp from "sharp";
import { systemCtx } from "@/server/domain/ctx";
import * as jobs from "@/server/domain/jobs";
import type { Tenant } from "./api";
import { inlineStep, testClock } from "./world";

/** A picture of one figure on white. */
export function figure(colour: string, format: "png" | "jpeg" | "webp" = "png"): Promise<Buffer> {
  const drawn = `<svg width="256" height="256"><ellipse cx="128" cy="128" rx="60" ry="110" fill="${colour}"/></svg>`;
  return sharp(Buffer.from(drawn)).flatten({ background: "white" }).toFormat(format).toBuffer();
}

/** A picture that no other test uses, so that no other row refers to its content. */
export const ownFigure = () => figure(`#${randomBytes(3).toString("hex")}`);

/** Uploads a file as a client does; returns the artifact's id. */
export async function upload(tenant: Tenant, bytes: Uint8Array, mediaType: string): Promise<string> {
  const { json, status } = await tenant.post(`/v1/artifacts?projectId=${tenant.projectId}`, bytes, {
    headers: { "content-type": mediaType, "content-length": String(bytes.byteLength) },
  });
  if (status !== 200) throw new Error(`the upload was answered with ${status}`);
  return json.artifactId;
}

/** Runs a job until it ends or waits, as a worker does; sleeps move the clock. */
export async function work(jobId: string, clock = testClock()): Promise<void> {
  await jobs.run({ ...systemCtx("test"), now: clock.now }, jobId, inlineStep(clock));
}
