import { z } from "zod";
import { ModelAdapter } from "@/server/contract/adapters";

/** Why an upload failed: the message, and where known the field and the rule that the file breaks. */
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

const Refusal = z.object({
  detail: z.union([
    z.object({ code: z.string(), message: z.string() }),
    z.array(z.object({ loc: z.array(z.union([z.string(), z.number()])), msg: z.string(), type: z.string() })),
  ]),
});

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
      const known = request.status < 300 && ModelAdapter.safeParse(bodyOf(request)).data;
      if (known) resolve(known);
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
  const detail = Refusal.safeParse(bodyOf(request)).data?.detail;
  if (!detail)
    return new UploadRefusal(
      `The server responded with status ${request.status}. Nothing was saved. Try again.`,
      { requestId },
    );
  if (!Array.isArray(detail)) return new UploadRefusal(detail.message, { requestId });
  const [first] = detail;
  const field = String(first?.loc.at(-1));
  const message = [...new Set(detail.map(({ msg }) => msg))].join(" ");
  return new UploadRefusal(message, {
    field,
    requestId,
    rule: field === "file" ? first?.type : undefined,
  });
}
