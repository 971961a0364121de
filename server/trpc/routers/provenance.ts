import { ListManifests, ManifestPage } from "@/server/contract/provenance";
import * as provenance from "@/server/domain/provenance";
import * as api from "@/server/operations/provenance";
import { router } from "../init";
import { mutation, query, reads } from "../of";

export const provenanceRouter = router({
  manifests: reads(ListManifests.required({ projectId: true }), ManifestPage, provenance.listManifests),
  manifest: query(api.getManifest),
  createManifest: mutation(api.createManifest, { needs: ["projectId"] }),
  /** A mutation only because it is expensive: it reads every receipt, and runs on a click. */
  verifyManifest: mutation(api.verifyManifest),
  lockfile: query(api.getLockfile),
  verifyLockfile: mutation(api.verifyLockfile),
});
