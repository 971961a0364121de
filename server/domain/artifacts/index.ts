export { keepContents, lockContent } from "./content-lock";
export { type Download, type Downloadable, type DownloadRequest, download } from "./download";
export type { ByteRange } from "./range";
export { readWhole } from "./read";
export { type ArtifactStore, artifactStore, type Stored } from "./store";
