const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

/** A time such as `Nov 21, 04:16:22`, in the reader's time zone, or in UTC if the zone is unknown (on the server). */
export function formatMoment(iso: string, zone: "local" | "utc"): string {
  const date = new Date(iso);
  const shifted = zone === "utc" ? date : new Date(date.getTime() - date.getTimezoneOffset() * 60_000);
  const [day, time] = shifted.toISOString().split("T") as [string, string];
  const [year, month, dayOfMonth] = day.split("-") as [string, string, string];
  const thisYear = String(new Date().getUTCFullYear());
  const words = `${MONTHS[Number(month) - 1]} ${Number(dayOfMonth)}`;
  return `${words}${year === thisYear ? "" : ` ${year}`}, ${time.slice(0, 8)}`;
}

/** The time since a moment, or until a future one, in the largest unit that fits: `just now`, `42 s ago`, `in 2 d`. */
export function formatAgo(iso: string, nowMs: number): string {
  const seconds = Math.round((nowMs - new Date(iso).getTime()) / 1000);
  if (Math.abs(seconds) < 3) return "just now";
  const size = Math.abs(seconds);
  const words =
    size < 60
      ? `${size} s`
      : size < 3600
        ? `${Math.floor(size / 60)} min`
        : size < 86_400
          ? `${Math.floor(size / 3600)} h`
          : `${Math.floor(size / 86_400)} d`;
  return seconds >= 0 ? `${words} ago` : `in ${words}`;
}

/** A duration: `42 ms`, `3.27 s`, `2 min 05 s`, `1 h 12 min`. */
export function formatDuration(ms: number): string {
  if (ms < 0) return "0 ms";
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
  return `${Math.floor(seconds / 3600)} h ${String(Math.floor((seconds % 3600) / 60)).padStart(2, "0")} min`;
}

/** Milliseconds between two moments; null if either is unknown. */
export function msBetween(from: string | null, to: string | null): number | null {
  return from === null || to === null ? null : new Date(to).getTime() - new Date(from).getTime();
}
