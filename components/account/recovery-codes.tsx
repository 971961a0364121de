"use client";
import { useEffect, useRef } from "react";
import { Button } from "@/components/ui/button";
import { CopyButton } from "@/components/ui/copy-button";
import { DownloadText } from "@/components/ui/download";
import { Notice } from "@/components/ui/notice";

/** Recovery codes, the one time they are shown. */
export function RecoveryCodes({ codes, onKept }: { codes: string[]; onKept: () => void }) {
  const text = codes.join("\n");
  const place = useRef<HTMLDivElement>(null);
  // They appear above the form that asked for them.
  useEffect(() => place.current?.focus(), []);
  return (
    <div ref={place} tabIndex={-1} className="rounded-lg">
      <Notice tone="warn" role="status" title="Keep these recovery codes">
        <p>
          Each signs you in once, without your authenticator. They are shown now and never again; older ones
          work no more.
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
          <CopyButton text={text} what="the recovery codes" showLabel />
          <DownloadText name="capstan-recovery-codes.txt" text={text} what="the recovery codes" />
          <Button size="sm" onClick={onKept}>
            I have kept them
          </Button>
        </div>
      </Notice>
    </div>
  );
}
