/** Next calls this once in each process, before the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === "nodejs") {
    const { keepLinesApart } = await import("@/server/api/header-lines");
    keepLinesApart();
  }
}
