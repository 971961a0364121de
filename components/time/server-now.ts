"use client";
import { useEffect, useState } from "react";
import { nextTickMs } from "./countdown";

/**
 * The server's time, advanced by this device's monotonic clock, so a wrong device clock does not matter. Updates
 * whenever a countdown to `until` changes.
 */
export function useServerNow(said: string, until: string): number {
  const saidMs = Date.parse(said);
  const untilMs = Date.parse(until);
  const [nowMs, setNowMs] = useState(saidMs);
  useEffect(() => {
    const heardAt = performance.now();
    const now = () => saidMs + (performance.now() - heardAt);
    let timer: ReturnType<typeof setTimeout> | undefined;
    function step() {
      setNowMs(now());
      const wait = nextTickMs(untilMs - now());
      if (wait !== null) timer = setTimeout(step, wait);
    }
    step();
    return () => clearTimeout(timer);
  }, [saidMs, untilMs]);
  return nowMs;
}
