"use client";
import { useCallback, useEffect, useRef, useState } from "react";
import { memberOf, textIn } from "@/components/blocks/data/unknown";
import type { FieldIssue } from "@/components/field-issue";
import type { ModelAdapter } from "@/server/contract/adapters";
import { type Progress, progressOf, type Sample, withSample } from "./transfer";

export type Upload =
  | { state: "idle" }
  | { state: "sending"; progress: Progress; total: number }
  /** Everything was sent; waiting for the response. */
  | { state: "checking" }
  | { state: "refused"; refusal: UploadRefusal };

/** Runs one upload at a time and reports its progress; leaving the page aborts it. */
export function useUpload(onDone: (adapter: ModelAdapter) => void) {
  const [upload, setUpload] = useState<Upload>({ state: "idle" });
  const underWay = useRef<AbortController>(null);

  const cancel = useCallback(() => {
    underWay.current?.abort();
    underWay.current = null;
    setUpload({ state: "idle" });
  }, []);
  useEffect(() => () => underWay.current?.abort(), []);

  const isUnderWay = upload.state === "sending" || upload.state === "checking";
  useEffect(() => {
    if (!isUnderWay) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener("beforeunload", ask);
    return () => window.removeEventListener("beforeunload", ask);
  }, [isUnderWay]);

  const start = useCallback(
    async (url: string, form: FormData, total: number) => {
      if (underWay.current) return; // a second click before the button is disabled
      const controller = new AbortController();
      underWay.current = controller;
      let samples: Sample[] = [{ atMs: performance.now(), sent: 0 }];
      setUpload({ state: "sending", progress: progressOf(samples, total), total });
      const onSent = (sent: number) => {
        if (controller.signal.aborted) return;
        samples = withSample(samples, { atMs: performance.now(), sent });
        setUpload(
          sent < total
            ? { state: "sending", progress: progressOf(samples, total), total }
            : { state: "checking" },
        );
      };
      try {
        const adapter = await sendFile({ url, form, signal: controller.signal, onSent });
        setUpload({ state: "idle" });
        onDone(adapter);
      } catch (error) {
        if (controller.signal.aborted) return;
        const refusal =
          error instanceof UploadRefusal
            ? error
            : new UploadRefusal(
                "Something went wrong on this page. Check the adapter list before uploading again.",
              );
        setUpload({ state: "refused", refusal });
      } finally {
        if (underWay.current === controller) underWay.current = null;
      }
    },
    [onDone],
  );
  return { upload, isUnderWay, start, cancel };
}

/** Why an upload failed: the message, and where known the field and the rule that the file breaks. */
class UploadRefusal extends Error {
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
function sendFile({
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
        resolve(body as ModelAdapter); // the adapter, as the contract has it
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
  const issues: FieldIssue[] = Array.isArray(detail) ? detail : []; // every refusal by field has this form
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
