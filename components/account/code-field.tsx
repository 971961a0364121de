"use client";
import { Field } from "@/components/ui/field";
import { CodeInput } from "./code-input";

/** Where a code of the second factor is typed. */
export function CodeField({ hint, problem }: { hint: string; problem: string | undefined }) {
  return (
    <div className="max-w-sm">
      <Field id="second-factor-code" label="Code" hint={hint} problem={problem}>
        {(aria) => <CodeInput {...aria} />}
      </Field>
    </div>
  );
}
