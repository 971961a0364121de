import type { ArtifactStore } from "./store";
export type S3Settings = {
  bucket: string;
  region: string;
  endpoint?: string;
  accessKeyId?: string;
  secretAccessKey?: string;
};
export function s3Store(settings: S3Settings): ArtifactStore {
  throw new Error(settings.bucket);
}
