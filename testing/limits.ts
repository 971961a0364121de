import { onTestFinished, vi } from "vitest";
import type { Limiter } from "@/server/api/rate-limit";

/** Takes what a caller may still do just now; the limits' clock stands still from then on, until the test ends. */
export function spend(limit: Limiter, caller: string): void {
  const clock = vi.spyOn(performance, "now").mockReturnValue(performance.now());
  onTestFinished(() => clock.mockRestore());
  while (!limit.isSpent(caller)) limit.take(caller, {});
}
