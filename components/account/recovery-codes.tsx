"use client";
import { useEffect, useRef } from "react";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { DownloadText } from "@/components/ui/download";
import { Notice } from "@/components/ui/notice";

/** New recovery codes. They are shown once. */
export function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept: () => void }) {
  const text = codes.join("\n");
  const place = useRef<HTMLDivElement>(null);
  // The codes appear above the submitted form, so the focus moves up to them.
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} tabIndex={-1} className="rounded-lg">
      <Notice tone="warn" role="status" title="Save your recovery codes">
        <p>
          Each code signs you in once without your authenticator app. The codes won't be shown again, and
          older codes no longer work.
        </p>
        <ul
          aria-label="Recovery codes"
          className="my-3 grid gap-x-6 gap-y-1 font-mono text-[13px] min-[480px]:grid-cols-2"
        >
          {codes.map((code) => (
            <li key={code}>{code}</li>
          ))}
        </ul>
        <div className="flex flex-wrap gap-2">
          <CopyButton text={text} what="recovery codes" showLabel />
          <DownloadText name="capstan-recovery-codes.txt" text={text} what="recovery codes" />
          <Button size="sm" onClick={onKept}>
            Done
          </Button>
        </div>
      </Notice>
    </div>
  );
}
