"use client";
import { useState } from "react";
import { cn } from "@/components/ui/class-names";
import { Textarea } from "@/components/ui/textarea";
import type { Aria } from "./frame";

/** An editor of JSON text over a value somebody else may change too. */
export function JsonText({
  aria,
  value,
  disabled,
  onChange,
  label,
  className,
}: {
  aria: Partial<Aria>;
  value: unknown;
  disabled: boolean;
  onChange(value: unknown): void;
  label: string;
  className?: string;
}) {
  const written = value === undefined ? "" : JSON.stringify(value, null, 2);
  // While the text stands for the value, the value leads; text that cannot be read leads until it can.
  const [draft, setDraft] = useState<{ text: string; of: string } | null>(null);
  const text = draft && draft.of === written ? draft.text : written;
  const problem = problemOf(text);
  const problemId = `${aria.id ?? "json"}-problem`;
  return (
    <>
      <Textarea
        {...aria}
        aria-label={aria.id ? undefined : label}
        aria-invalid={problem ? true : aria["aria-invalid"]}
        aria-describedby={
          [aria["aria-describedby"], problem && problemId].filter(Boolean).join(" ") || undefined
        }
        spellCheck={false}
        disabled={disabled}
        value={text}
        className={cn("font-mono text-xs leading-5", className)}
        onChange={({ target }) => {
          const next = target.value;
          if (next.trim() === "") {
            setDraft({ text: next, of: "" });
            return onChange(undefined);
          }
          if (problemOf(next)) return setDraft({ text: next, of: written });
          const parsed = JSON.parse(next);
          setDraft({ text: next, of: JSON.stringify(parsed, null, 2) });
          onChange(parsed);
        }}
      />
      {problem && (
        <p id={problemId} role="alert" className="mt-1 text-xs font-medium text-bad">
          {problem}
        </p>
      )}
    </>
  );
}

function problemOf(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    JSON.parse(text);
    return null;
  } catch {
    return "This is not JSON yet; the last readable text is what would be sent.";
  }
}
