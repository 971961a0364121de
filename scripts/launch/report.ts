/** Reports each step with the time since the start, and prints "done" when it has finished. */
export type Report = {
  step<T>(what: string, work: () => Promise<T> | T, result?: (value: T) => string): Promise<T>;
  say(line: string): void;
};

/** When the command was started, in milliseconds since 1970, by this process or by the one that started it. */
export function clockBeganAt(): number {
  return Number(process.env.CAPSTAN_CLOCK) || Date.now() - process.uptime() * 1_000;
}

/** A report that writes line by line, with the seconds since the command was started. */
export function openReport(write: (line: string) => void): Report {
  const beganAt = clockBeganAt();
  const stamp = () => `[${((Date.now() - beganAt) / 1_000).toFixed(1).padStart(5)}s]`;
  return {
    say: (line) => write(`${stamp()} ${line}`),
    async step(what, work, result = () => "done") {
      const beganAt = performance.now();
      // A long step is announced before it ends.
      const slow = setTimeout(() => write(`${stamp()} ${what} …`), 2_000);
      try {
        const value = await work();
        const took = performance.now() - beganAt;
        const duration = took >= 1_000 ? ` (${(took / 1_000).toFixed(1)} s)` : "";
        write(`${stamp()} ${what} … ${result(value)}${duration}`);
        return value;
      } catch (error) {
        write(`${stamp()} ${what} … failed`);
        throw error;
      } finally {
        clearTimeout(slow);
      }
    },
  };
}
