import { JsonObject } from "@/server/contract/common";
import { ProjectRef } from "@/server/contract/jobs";
import {
  ListManifests,
  Lockfile,
  LockfileQuery,
  LockfileVerification,
  Manifest,
  ManifestPage,
  ManifestRef,
  ManifestRequest,
  ManifestVerification,
} from "@/server/contract/provenance";
import * as provenance from "@/server/domain/provenance";
import { human, router } from "./init";

const ProjectManifests = ListManifests.omit({ projectId: true }).extend(ProjectRef.shape);
const NewManifest = ManifestRequest.omit({ projectId: true, context: true }).extend(ProjectRef.shape);

export const provenanceRouter = router({
  manifests: human
    .input(ProjectManifests)
    .output(ManifestPage)
    .query(({ ctx, input: { project_id, ...page } }) =>
      provenance.listManifests(ctx, { ...page, projectId: project_id }),
    ),
  manifest: human
    .input(ManifestRef)
    .output(Manifest)
    .query(({ ctx, input }) => provenance.getManifest(ctx, input.manifest_id)),
  createManifest: human
    .input(NewManifest)
    .output(Manifest)
    .mutation(({ ctx, input: { project_id, ...manifest } }) =>
      provenance.createManifest(ctx, { ...manifest, projectId: project_id }),
    ),
  /** A mutation only because it is expensive: it reads every receipt, and runs on a click. */
  verifyManifest: human
    .input(ManifestRef)
    .output(ManifestVerification)
    .mutation(({ ctx, input }) => provenance.verifyManifest(ctx, input.manifest_id)),
  lockfile: human
    .input(LockfileQuery)
    .output(Lockfile)
    .query(({ ctx, input }) => provenance.getLockfile(ctx, input.receipt_id)),
  verifyLockfile: human
    .input(ProjectRef.extend({ lockfile: JsonObject }))
    .output(LockfileVerification)
    .mutation(({ ctx, input }) => provenance.verifyLockfile(ctx, input.lockfile)),
});
