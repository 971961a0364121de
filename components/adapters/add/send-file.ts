import { memberOf, textIn } from "@/components/blocks/data/unknown";
import type { FieldIssue } from "@/components/data/field-issue";
import type { ModelAdapter } from "@/server/contract/adapters";

/** A failed upload: the message and, if known, the field and the rule that the file breaks. */
export class UploadRefusal extends Error {
  override readonly name = "UploadRefusal";
  readonly field: string | null;
  readonly rule: string | null;
  readonly requestId: string | null;
  constructor(
    message: string,
    about: { field?: string | undefined; rule?: string | undefined; requestId?: string | null } = {},
  ) {
    super(message);
    this.field = about.field ?? null;
    this.rule = about.rule ?? null;
    this.requestId = about.requestId ?? null;
  }
}

/**
 * Sends a form with a file and reports how many bytes were sent. It uses XMLHttpRequest because fetch reports no upload
 * progress. Throws UploadRefusal, or the reason of the signal when canceled.
 */
export function sendFile({
  url,
  form,
  signal,
  onSent,
}: {
  url: string;
  form: FormData;
  signal: AbortSignal;
  onSent(bytes: number): void;
}): Promise<ModelAdapter> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const abort = () => request.abort();
    signal.addEventListener("abort", abort);
    request.upload.addEventListener("progress", ({ loaded }) => onSent(loaded));
    request.addEventListener("abort", () => reject(signal.reason));
    request.addEventListener("error", () =>
      reject(
        new UploadRefusal(
          "The connection was lost before the upload finished. Nothing was saved. Try again.",
        ),
      ),
    );
    request.addEventListener("load", () => {
      const body = bodyOf(request);
      const isKnown = request.status < 300 && textIn(body, "adapterId") !== undefined;
      if (isKnown)
        resolve(body as ModelAdapter); // the response is the adapter, as the contract defines it
      else reject(refusalOf(request));
    });
    request.addEventListener("loadend", () => signal.removeEventListener("abort", abort));
    request.open("POST", url);
    request.setRequestHeader("accept", "application/json");
    request.send(form);
  });
}

function bodyOf({ responseText }: XMLHttpRequest): unknown {
  try {
    return JSON.parse(responseText);
  } catch {
    return null; // a proxy's error page, or an empty body
  }
}

function refusalOf(request: XMLHttpRequest): UploadRefusal {
  const requestId = request.getResponseHeader("x-request-id");
  const detail = memberOf(bodyOf(request), "detail");
  const message = textIn(detail, "message");
  if (message) return new UploadRefusal(message, { requestId });
  const issues: FieldIssue[] = Array.isArray(detail) ? detail : []; // all validation errors have this form
  const [first] = issues;
  if (!first)
    return new UploadRefusal(
      `The server responded with status ${request.status}. Nothing was saved. Try again.`,
      { requestId },
    );
  const field = String(first.loc.at(-1));
  return new UploadRefusal([...new Set(issues.map(({ msg }) => msg))].join(" "), {
    field,
    requestId,
    rule: field === "file" ? first.type : undefined,
  });
}
