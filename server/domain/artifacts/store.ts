import { join } from "node:path";
import { env } from "@/server/platform/settings/env";
import { filesStore } from "./files";
import { s3Store } from "./s3";
import type { ArtifactStore } from "./store-port";

let chosen: ArtifactStore | undefined;

/** The store of this installation, chosen once by ARTIFACT_STORE. Throws when S3 is chosen without a bucket. */
export function artifactStore(): ArtifactStore {
  chosen ??=
    env.ARTIFACT_STORE === "s3" ? configuredS3() : filesStore(join(env.CAPSTAN_DATA_DIR, "artifacts"));
  return chosen;
}

function configuredS3(): ArtifactStore {
  if (!env.S3_BUCKET) throw new Error("Wrong settings:\nS3_BUCKET: required when ARTIFACT_STORE is s3");
  return s3Store({
    bucket: env.S3_BUCKET,
    region: env.S3_REGION,
    endpoint: env.S3_ENDPOINT,
    accessKeyId: env.S3_ACCESS_KEY_ID,
    secretAccessKey: env.S3_SECRET_ACCESS_KEY,
  });
}
