import * as adapters from "@/server/domain/adapters";
import { systemCtx } from "@/server/domain/ctx";
import { manyWeights, uploadOf } from "./forms";

/* Uploads one adapter. The process may be killed at a failpoint (CAPSTAN_FAILPOINTS) or after half of the bytes (`diesHalfWay`). */
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
