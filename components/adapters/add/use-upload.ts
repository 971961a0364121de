"use client";
import { useCallback, useEffect, useRef, useState } from "react";
import type { ModelAdapter } from "@/server/contract/adapters";
import { sendFile, UploadRefusal } from "./send-file";
import { progressOf, type TransferProgress, type TransferSample, withTransferSample } from "./transfer";

export type UploadState =
  | { state: "idle" }
  | { state: "sending"; progress: TransferProgress; total: number }
  /** Everything was sent; waiting for the response. */
  | { state: "checking" }
  | { state: "refused"; refusal: UploadRefusal };

/** Runs one upload at a time and reports its progress; leaving the page aborts it. */
export function useUpload(onDone: (adapter: ModelAdapter) => void) {
  const [upload, setUpload] = useState<UploadState>({ state: "idle" });
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
      let samples: TransferSample[] = [{ atMs: performance.now(), sent: 0 }];
      setUpload({ state: "sending", progress: progressOf(samples, total), total });
      const onSent = (sent: number) => {
        if (controller.signal.aborted) return;
        samples = withTransferSample(samples, { atMs: performance.now(), sent });
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
