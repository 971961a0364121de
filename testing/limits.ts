import { onTestFinished, vi } from "vitest";
import type { Limiter } from "@/server/api/rate-limit";

/** Uses up a caller's current allowance; the limits' clock then stands still until the test ends. */
export function spend(limit: Limiter, caller: string): void {
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  while (!limit.isSpent(caller)) limit.take(caller, {});
}
