"use client";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";

/** Where a code of the second factor is typed. */
export function CodeField({ hint, problem }: { hint: string; problem: string | undefined }) {
  return (
    <div className="max-w-sm">
      <Field id="second-factor-code" label="Code" hint={hint} problem={problem}>
        {(aria) => (
          <Input
            {...aria}
            name="code"
            required
            maxLength={40}
            autoComplete="one-time-code"
            autoCapitalize="none"
            spellCheck={false}
            className="font-mono"
          />
        )}
      </Field>
    </div>
  );
}
