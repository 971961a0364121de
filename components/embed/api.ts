import type { FieldIssue } from "@/components/data/field-issue";
import type { Failure } from "@/components/data/trpc";
import { UNREACHABLE } from "@/components/data/unreachable";

/** An error of the API, in the shape that the panel's forms read. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly failure: Failure,
  ) {
    super(failure.message);
  }
}

export type PanelApi = ReturnType<typeof panelApi>;

/** Calls our API with a session's token, or without one to obtain a token. Cookies are never sent. */
export function panelApi(token: string | null) {
  async function ask(path: string, sent?: unknown, headers: Record<string, string> = {}): Promise<Response> {
    const answer = await fetch(path, {
      method: sent === undefined ? "GET" : "POST",
      credentials: "omit",
      cache: "no-store",
      headers: {
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(sent === undefined ? {} : { "content-type": "application/json" }),
        ...headers,
      },
      ...(sent === undefined ? {} : { body: JSON.stringify(sent) }),
    });
    if (!answer.ok) throw new Refusal(answer.status, await failureOf(answer));
    return answer;
  }
  return {
    async json<T>(path: string, sent?: unknown, headers?: Record<string, string>): Promise<T> {
      return (await ask(path, sent, headers)).json();
    },
    async blob(path: string): Promise<Blob> {
      return (await ask(path)).blob();
    },
  };
}

type Detail = { code?: string; message?: string; details?: Record<string, unknown> } | FieldIssue[];

async function failureOf(answer: Response): Promise<Failure> {
  const body = (await answer.json().catch(() => null)) as { detail?: Detail } | null; // our errors have this shape
  const detail = body?.detail;
  const isList = Array.isArray(detail);
  return {
    message: isList
      ? "Some fields are invalid. Fix the marked fields and try again."
      : (detail?.message ?? UNREACHABLE),
    code: isList ? null : (detail?.code ?? null),
    requestId: answer.headers.get("x-request-id"),
    isSignedOut: answer.status === 401,
    details: isList ? {} : (detail?.details ?? {}),
    issues: isList ? detail.map((issue) => ({ ...issue, loc: issue.loc.slice(1) })) : [],
  };
}
