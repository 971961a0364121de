/** Files whose queries are not statements yet. The list only becomes shorter. */
export const UNPORTED: string[] = [
  "server/domain/jobs/ending/delivered.ts",
  "server/domain/jobs/ending/prune.ts",
  "server/domain/jobs/following/events.ts",
  "server/domain/jobs/following/fan-out.ts",
  "server/domain/jobs/following/notify.ts",
  "server/domain/jobs/following/reader.ts",
  "server/domain/jobs/reading/blind.ts",
  "server/domain/jobs/reading/reads.ts",
  "server/domain/jobs/reading/references.ts",
  "server/domain/jobs/reading/usual-run.ts",
  "server/domain/jobs/running/promote-queued.ts",
  "server/domain/jobs/running/set-aside.ts",
  "server/domain/jobs/running/sweep.ts",
  "server/domain/jobs/running/work.ts",
];
