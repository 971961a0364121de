"use client";
import { useId, useState } from "react";
import { useSettled } from "@/components/playground/use-settled";
import { Button } from "@/components/ui/button";
import { Label } from "@/components/ui/label";
import { Notice } from "@/components/ui/notice";
import { Textarea } from "@/components/ui/textarea";
import { firstForgery, linesChanged } from "./forgery";
import { Checks, useVerified } from "./verify-here";

/** An editable copy of a document with one digit already changed: shows the check's result and the lines that differ. */
export default function Forge({
  what,
  original,
  onClose,
}: {
  what: string;
  original: string;
  onClose(): void;
}) {
  const id = useId();
  const [text, setText] = useState(() => firstForgery(original));
  const { data } = useVerified(what, useSettled(text));
  const changed = linesChanged(original, text);
  return (
    <section aria-label="Forgery" className="space-y-3 rounded-lg border border-line p-3">
      <div className="space-y-1.5">
        <Label htmlFor={id}>A copy of this {what}, with one digit changed. Change anything else.</Label>
        <Textarea
          id={id}
          value={text}
          onChange={({ target }) => setText(target.value)}
          spellCheck={false}
          autoComplete="off"
          className="h-56 font-mono text-xs whitespace-pre"
        />
      </div>
      <div role="status">
        {data && (
          <Notice
            tone={data.verified ? "good" : "bad"}
            title={`This copy is ${data.verified ? "authentic" : "not authentic"}`}
          >
            {changed.map(({ number, was, is }) => (
              <p key={number} className="my-1.5 font-mono text-xs" data-line={number}>
                <span className="block text-bad">
                  Line {number}: {is.trim() || "removed"}
                </span>
                <span className="block text-muted">Sealed: {was.trim() || "no such line"}</span>
              </p>
            ))}
            <Checks checks={data.checks} />
          </Notice>
        )}
      </div>
      <div className="flex gap-2">
        <Button size="sm" onClick={() => setText(original)} disabled={text === original}>
          Restore
        </Button>
        <Button size="sm" variant="ghost" onClick={onClose}>
          Close
        </Button>
      </div>
    </section>
  );
}
