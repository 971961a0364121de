/**
 * How the processes run, beside what their programs say. A web process has room for the objects of requests in flight, so that
 * they die young: collecting them costs it least. A worker lives through bulks of thousands of items: its heap grows in small
 * steps, so that its memory is flat in their number (`npm run prove:bulk -- --items 10000` shows it).
 */
const FLAGS: Record<string, readonly string[]> = {
  web: ["--max-semi-space-size=32"],
  worker: ["--max-semi-space-size=16", "--heap-growing-percent=30"],
};

/** The flags of Node for a process of this name. */
export const runtimeFlags = (name: string): readonly string[] => FLAGS[name] ?? [];

/** The allocator keeps two arenas, not eight for each core, whose freed pages no other thread could use. */
export const RUNTIME_ENV = { MALLOC_ARENA_MAX: process.env.MALLOC_ARENA_MAX ?? "2" };
