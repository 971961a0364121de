"use client";
import { useContext, useEffect, useId, useState } from "react";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Textarea } from "@/components/ui/textarea";
import type { Aria } from "./frame";
import { UnreadTexts } from "./unread";

/** A JSON text editor for a value that may also change elsewhere. Invalid text stays as typed until the value changes. */
export function JsonText({
  aria,
  value,
  disabled,
  onChange,
  label,
  holds = "any",
  className,
}: {
  aria: Partial<Aria>;
  value: unknown;
  disabled: boolean;
  onChange(value: unknown): void;
  label: string;
  /** The accepted values: any, including an empty text, or only an object. */
  holds?: "any" | "object";
  className?: string;
}) {
  const written = value === undefined ? "" : JSON.stringify(value, null, 2);
  // The typed text is shown, valid or not, while the value is the one it belongs to; a change from elsewhere replaces it.
  const [draft, setDraft] = useState<{ text: string; of: string } | null>(null);
  const text = draft && draft.of === written ? draft.text : written;
  const problem = problemOf(text, holds);
  const problemId = `${aria.id ?? "json"}-problem`;
  const isUnread = problem !== null;
  const mark = useContext(UnreadTexts);
  const editor = useId();
  useEffect(() => {
    mark(editor, isUnread);
    return () => mark(editor, false);
  }, [mark, editor, isUnread]);
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
          if (problemOf(next, holds)) return setDraft({ text: next, of: written });
          if (next.trim() === "") {
            setDraft({ text: next, of: "" });
            return onChange(undefined);
          }
          const parsed = JSON.parse(next);
          setDraft({ text: next, of: JSON.stringify(parsed, null, 2) });
          onChange(parsed);
        }}
      />
      {problem && (
        <div className="mt-1 flex flex-wrap items-center justify-between gap-2">
          <p id={problemId} role="alert" className="text-xs font-medium text-bad">
            {problem}
          </p>
          <Button size="sm" disabled={disabled} onClick={() => setDraft(null)}>
            Discard change
          </Button>
        </div>
      )}
    </>
  );
}

/** The reason why a text is not valid; null if it is. */
export function problemOf(text: string, holds: "any" | "object"): string | null {
  if (text.trim() === "" && holds === "any") return null;
  try {
    const value: unknown = JSON.parse(text);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return holds === "any" || isObject
      ? null
      : "This must be a JSON object. Nothing is sent until it is one.";
  } catch {
    return "This is not valid JSON. Nothing is sent until it is.";
  }
}
