export { keepContents, lockContent } from "./content-lock";
export { type Download, type Downloadable, type DownloadRequest, download } from "./download";
export type { ByteRange } from "./range";
export { readWhole } from "./read";
export { artifactStore } from "./store";
export type { ArtifactStore, Stored } from "./store-port";
