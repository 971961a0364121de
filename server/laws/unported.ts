/** Files whose queries are not statements yet. The list only becomes shorter. */
export const UNPORTED: string[] = [
  "server/domain/jobs/ending/delivered.ts",
  "server/domain/jobs/ending/prune.ts",
  "server/domain/jobs/running/promote-queued.ts",
  "server/domain/jobs/running/set-aside.ts",
  "server/domain/jobs/running/sweep.ts",
  "server/domain/jobs/running/work.ts",
];
