/**
 * Node flags of the processes. A worker processes bulks of thousands of items: its heap grows in small steps, so that its
 * memory does not depend on their number (`npm run prove:bulk -- --items 10000` shows it). The flags are there for memory
 * alone: without them a job took 0.95 of the CPU (Node 24, median of nine paired rounds).
 */
const FLAGS: Record<string, readonly string[]> = {
  worker: ["--max-semi-space-size=16", "--heap-growing-percent=30"],
};

/** The flags of Node for a process of this name. */
export const runtimeFlags = (name: string): readonly string[] => FLAGS[name] ?? [];

/** Node's arguments before the program: its flags, and the lifeline to the process that starts it. */
export const nodeArgs = (name: string): string[] => [
  ...runtimeFlags(name),
  "--import",
  "./dist/lifeline.mjs",
];

/** Node's arguments for a built program. */
export const programArgs = (name: string): string[] => [
  ...nodeArgs(name),
  "--enable-source-maps",
  `dist/${name}.mjs`,
];

/** The allocator keeps two arenas, not eight for each core, whose freed pages no other thread could use. */
export const RUNTIME_ENV = { MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? "2" };
