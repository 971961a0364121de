/** The number of bytes of a file that had been sent at a time. */
export type TransferSample = { atMs: number; sent: number };

/** The rate is measured over this window: short enough to follow a changing network, long enough not to flicker. */
const WINDOW_MS = 5_000;
/** No rate is reported before this much time. */
const SOONEST_MS = 400;

/** Adds a sample and drops those older than the window, except the last one before it. */
export function withTransferSample(
  samples: readonly TransferSample[],
  next: TransferSample,
): TransferSample[] {
  const since = next.atMs - WINDOW_MS;
  const first = samples.findLastIndex(({ atMs }) => atMs <= since);
  return [...samples.slice(Math.max(first, 0)), next];
}

export type TransferProgress = {
  sent: number;
  percent: number;
  bytesPerSecond: number | null;
  secondsLeft: number | null;
};

/** The progress of a transfer. The rate and the time left are null while they are unknown. */
export function progressOf(samples: readonly TransferSample[], total: number): TransferProgress {
  const [first, last] = [samples[0], samples.at(-1)];
  const sent = Math.min(last?.sent ?? 0, total);
  const percent = total === 0 ? 100 : Math.floor((sent / total) * 100);
  const elapsedMs = first && last ? last.atMs - first.atMs : 0;
  if (!first || !last || elapsedMs < SOONEST_MS)
    return { sent, percent, bytesPerSecond: null, secondsLeft: null };
  const bytesPerSecond = ((last.sent - first.sent) * 1000) / elapsedMs;
  const secondsLeft = bytesPerSecond > 0 ? Math.ceil((total - sent) / bytesPerSecond) : null;
  return { sent, percent, bytesPerSecond, secondsLeft };
}
