import * as jobs from "@/server/domain/jobs";
import { byPeople, operations } from "@/server/operations/define";
import { uploadArtifact } from "@/server/operations/inputs";
import { artifactAnswer, DOWNLOAD } from "./artifact-answer";
import type { Endpoint } from "./endpoint";
import { router } from "./router";

/* The files of the panel's pages, for the session of the browser. Unlisted: programs have the paths below `/v1`. */

const uploadFile: Endpoint = { ...uploadArtifact, path: "/artifacts", ...byPeople };

const readFile = operations("Jobs", byPeople).get("/artifacts/{job_id}/{artifact_id}", {
  summary: "Download an artifact of a job",
  ...DOWNLOAD,
  errors: ["Gone", "RangeNotSatisfiable"],
  http: async (ctx, { job_id, artifact_id, incoming }) => {
    const found = await jobs.artifact(ctx, job_id, artifact_id);
    const answer = await artifactAnswer(found, incoming, found.filename);
    // For pages of ours alone: no other site may load it, and none learns its address.
    const own = { "cross-origin-resource-policy": "same-origin", "referrer-policy": "no-referrer" };
    return { ...answer, headers: { ...answer.headers, ...own } };
  },
});

/** Serves `/artifacts` and the paths below it. */
export const panelFiles = router([uploadFile, readFile]);
