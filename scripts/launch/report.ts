/** Says what is being done, with the time since the start; `true` states only: "done" is printed when it is. */
export type Report = {
  step<T>(what: string, work: () => Promise<T> | T, result?: (value: T) => string): Promise<T>;
  say(line: string): void;
};

/** When the command was given, in milliseconds since 1970: with this process, or with the one that started it. */
export function clockBeganAt(): number {
  return Number(process.env.CAPSTAN_CLOCK) || Date.now() - process.uptime() * 1_000;
}

/** A report that goes line by line to `write`, with the seconds since the command was given. */
export function openReport(write: (line: string) => void): Report {
  const beganAt = clockBeganAt();
  const stamp = () => `[${((Date.now() - beganAt) / 1_000).toFixed(1).padStart(5)}s]`;
  return {
    say: (line) => write(`${stamp()} ${line}`),
    async step(what, work, result = () => "done") {
      const beganAt = performance.now();
      // A step that takes long announces itself before it ends.
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
