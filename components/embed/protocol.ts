/** The protocol of the messages between a host page and the embed in its frame. Messages of another protocol are ignored. */
export const PROTOCOL = "service.panel.v1";

export type ToHost =
  | { type: "hello" }
  | { type: "ready"; sessionId: string; expiresAt: string }
  | { type: "resize"; height: number }
  | { type: "job.submitted"; jobId: string }
  | { type: "job.completed"; jobId: string; status: string; artifacts: { artifactId: string }[] }
  | { type: "error"; category: string; message: string };

export type FromHost =
  | { type: "session"; token: string }
  | { type: "prefill"; inputs: Record<string, unknown> }
  | { type: "theme"; theme: "light" | "dark" };

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Parses a host's message; null for anything else. */
export function readFromHost(data: unknown): FromHost | null {
  if (!isObject(data) || data.protocol !== PROTOCOL) return null;
  const { type, token, inputs, theme } = data;
  if (type === "session" && typeof token === "string") return { type, token };
  if (type === "prefill" && isObject(inputs)) return { type, inputs };
  if (type === "theme" && (theme === "light" || theme === "dark")) return { type, theme };
  return null;
}
