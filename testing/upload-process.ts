import * as adapters from "@/server/domain/adapters";
import { systemCtx } from "@/server/domain/ctx";
import { manyWeights, uploadOf } from "./forms";

/* A process that uploads one adapter, and may be killed on the way (CAPSTAN_FAILPOINTS) or within the bytes. */
const [, , request = "{}"] = process.argv;
const { projectId, seed, megabytes, diesHalfWay } = JSON.parse(request); // processes.ts writes it
const form = uploadOf(manyWeights(seed, megabytes));
async function* bytes() {
  yield form.bytes.subarray(0, form.bytes.length / 2);
  if (diesHalfWay) process.kill(process.pid, "SIGKILL");
  yield form.bytes.subarray(form.bytes.length / 2);
}
await adapters.upload(
  systemCtx("upload-process"),
  { projectId },
  { contentType: form.contentType, contentLength: String(form.bytes.length), bytes: bytes() },
);
process.exit(0);
