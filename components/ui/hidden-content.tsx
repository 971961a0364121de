"use client";
import { EyeOff } from "lucide-react";
import { Button } from "./button";

/** Shown in place of private content until the reader asks for it. */
export function HiddenContent({
  of,
  pending,
  onShow,
}: {
  /** The kind of item whose content is private, such as "job". */
  of: string;
  pending?: boolean;
  onShow(): void;
}) {
  return (
    <div className="flex flex-col items-center gap-3 px-4 py-8 text-center text-sm text-muted">
      <EyeOff aria-hidden className="size-5" />
      <p>This {of} is marked as private user content.</p>
      <Button size="sm" pending={pending} onClick={onShow}>
        Show content
      </Button>
    </div>
  );
}
