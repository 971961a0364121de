"use client";
import { Check, Copy } from "lucide-react";
import { useState } from "react";
import { Button, type ButtonProps } from "./button";

/** Copies text to the clipboard and confirms it visually and to screen readers. */
export function CopyButton({
  text,
  what,
  showLabel = false,
  className,
  variant = "ghost",
}: {
  text: string;
  /** Completes "Copy …". */
  what: string;
  showLabel?: boolean;
  className?: string;
  variant?: ButtonProps["variant"];
}) {
  const [state, setState] = useState<"idle" | "copied" | "failed">("idle");
  // An open dialog hides its surroundings from screen readers unless they contain a live region, so the region is added only
  // when needed.
  const [isNear, setNear] = useState(false);

  async function copy() {
    try {
      await navigator.clipboard.writeText(text);
      setState("copied");
    } catch {
      setState("failed"); // no permission, or a page that is not a secure context
    }
    setTimeout(() => setState("idle"), 1600);
  }

  return (
    <>
      <Button
        variant={variant}
        size={showLabel ? "sm" : "icon-sm"}
        className={className}
        onClick={copy}
        onFocus={() => setNear(true)}
        onPointerEnter={() => setNear(true)}
        aria-label={`Copy ${what}`}
        title={state === "failed" ? "Select the text and copy it manually" : `Copy ${what}`}
      >
        {state === "copied" ? <Check aria-hidden className="text-good" /> : <Copy aria-hidden />}
        {showLabel && (state === "copied" ? "Copied" : state === "failed" ? "Copy manually" : "Copy")}
      </Button>
      <span aria-live={isNear ? "polite" : undefined} className="sr-only">
        {state === "copied" ? `Copied ${what}` : state === "failed" ? `Could not copy ${what}` : ""}
      </span>
    </>
  );
}
