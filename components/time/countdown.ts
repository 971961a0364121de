const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/**
 * The time left, in the units that still matter: minutes in the last two days, seconds in the last hour. Rounded up, so that
 * nothing reads as expired too early. Null if no time is left.
 */
export function formatRemaining(ms: number): string | null {
  if (ms <= 0) return null;
  if (ms <= HOUR) {
    const seconds = Math.ceil(ms / SECOND);
    return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  }
  if (ms > 2 * DAY) {
    const hours = Math.ceil(ms / HOUR);
    return `${Math.floor(hours / 24)} days${hours % 24 ? ` ${hours % 24} h` : ""}`;
  }
  const minutes = Math.ceil(ms / MINUTE);
  const hours = Math.floor(minutes / 60);
  const days = Math.floor(hours / 24);
  const dayWords = days === 0 ? "" : days === 1 ? "1 day " : `${days} days `;
  return `${dayWords}${hours % 24} h ${two(minutes % 60)} min`;
}

const two = (n: number) => String(n).padStart(2, "0");

/**
 * Milliseconds until the text of `formatRemaining` may change: at most a second in the last hour, else at most a minute. Null if
 * no time is left.
 */
export function nextTickMs(remainingMs: number): number | null {
  if (remainingMs <= 0) return null;
  const unit = remainingMs > HOUR ? MINUTE : SECOND;
  return remainingMs % unit || unit;
}
