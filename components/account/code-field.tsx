"use client";
import { Field } from "@/components/ui/field";
import { CodeInput } from "./code-input";

/** A labelled field for a second-factor code. */
export function CodeField({ hint, problem }: { hint: string; problem: string | undefined }) {
  return (
    <div className="max-w-sm">
      <Field id="second-factor-code" label="Code" hint={hint} problem={problem}>
        {(aria) => <CodeInput {...aria} />}
      </Field>
    </div>
  );
}
