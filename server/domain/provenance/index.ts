export { getLockfile, verifyLockfile } from "./lockfiles";
export { createManifest, getManifest, listManifests } from "./manifests";
export { verifyManifest } from "./verify-manifest";
