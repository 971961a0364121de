import { thumbnailOf } from "@/server/compute/imaging";
import { readWhole } from "@/server/domain/artifacts";
import * as jobs from "@/server/domain/jobs";
import { byPeople, operations } from "@/server/operations/define";
import { uploadArtifact } from "@/server/operations/inputs";
import { fail } from "@/server/platform/errors/errors";
import { artifactAnswer, DOWNLOAD } from "./answers/artifact";
import { type Endpoint, raw } from "./endpoint";
import { router } from "./router";

/* The files of the panel's pages, for the session of the browser. Unlisted: programs have the paths below `/v1`. */

const uploadFile: Endpoint = { ...uploadArtifact, path: "/artifacts", ...byPeople };

/** Only our own pages may load a file, and no other site learns its address. */
const OWN = { "cross-origin-resource-policy": "same-origin", "referrer-policy": "no-referrer" };

const readFile = operations("Jobs", byPeople).get("/artifacts/{job_id}/{artifact_id}", {
  summary: "Download an artifact of a job",
  ...DOWNLOAD,
  errors: ["Gone", "PreconditionFailed", "RangeNotSatisfiable"],
  http: async (ctx, { job_id, artifact_id, incoming }) => {
    const found = await jobs.artifact(ctx, job_id, artifact_id);
    const answer = await artifactAnswer(found, incoming, found.filename);
    return { ...answer, headers: { ...answer.headers, ...OWN } };
  },
});

/** The edge of a thumbnail: twice the 36 pixels that a list shows, for dense screens. */
const THUMBNAIL_PX = 72;

const readThumbnail = operations("Jobs", byPeople).get("/artifacts/{job_id}/{artifact_id}/thumbnail", {
  summary: "Download a small square of an image of a job",
  output: raw("image/webp"),
  errors: ["Gone"],
  http: async (ctx, { job_id, artifact_id }) => {
    const { sha256, media_type, byte_length } = await jobs.artifact(ctx, job_id, artifact_id);
    const isSmallEnough = jobs.PICTURES.includes(media_type) && byte_length <= jobs.MOST_INLINE_PICTURE_BYTES;
    const body = isSmallEnough ? await thumbnailOf(await readWhole(sha256), THUMBNAIL_PX) : null;
    if (!body) fail("NotFound", "This artifact has no thumbnail.");
    const cached = { "cache-control": "private, max-age=31536000, immutable", vary: "cookie" };
    const headers = { ...cached, ...OWN, "content-type": "image/webp", "x-content-type-options": "nosniff" };
    return { status: 200, headers, body };
  },
});

/** Serves `/artifacts` and the paths below it. */
export const panelFiles = router([uploadFile, readFile, readThumbnail]);
