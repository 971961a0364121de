/**
 * How the processes run, beside what their programs say. A web process has room for the objects of requests in flight, so that
 * they die young: collecting them costs it least. A worker lives through bulks of thousands of items: its heap grows in small
 * steps, so that its memory is flat in their number (`npm run prove:bulk -- --items 10000` shows it).
 */
const FLAGS: Record<string, readonly string[]> = {
  web: ["--max-semi-space-size=32"],
  worker: ["--max-semi-space-size=16", "--heap-growing-percent=30"],
};

/**
 * Node 20 optimizes a function after thousands of calls, which a process that starts some jobs a second makes in an hour: with
 * these it took a fifth less CPU for each, and a job started a tenth sooner. Later majors have an earlier optimizer instead, and
 * refuse the flags.
 */
const EARLIER = process.versions.node.startsWith("20.")
  ? ["--interrupt-budget=10000", "--no-lazy-feedback-allocation"]
  : [];

/** The flags of Node for a process of this name. */
export const runtimeFlags = (name: string): readonly string[] =>
  FLAGS[name] ? [...FLAGS[name], ...EARLIER] : [];

/** What Node is given before the program: its flags, and the lifeline to whoever starts it. */
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
