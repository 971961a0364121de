export { keepContents, keepFromRemoval, lockContent, mayRemove } from "./content-lock";
export { type Downloadable, type DownloadRequest, type DownloadResponse, download } from "./download";
export { filesStore } from "./files";
export type { ByteRange } from "./range";
export { readWhole } from "./read";
export { artifactStore } from "./store";
export type { ArtifactStore, Stored } from "./store-port";
