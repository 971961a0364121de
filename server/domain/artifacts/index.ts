export { keepContents, keepFromRemoval, lockContent, mayRemove } from "./content-lock";
export { type Download, type Downloadable, type DownloadRequest, download } from "./download";
export { filesStore } from "./files";
export type { ByteRange } from "./range";
export { readWhole } from "./read";
export { artifactStore } from "./store";
export type { ArtifactStore, Stored } from "./store-port";
