"use client";
import { useId } from "react";
import { useProblem } from "@/components/blocks/form/form";
import { Field } from "@/components/ui/field";
import { CodeInput } from "./code-input";

/** A labelled field for a second-factor code. */
export function CodeField({ hint }: { hint: string }) {
  return (
    <div className="max-w-sm">
      <Field id={useId()} label="Code" hint={hint} problem={useProblem("code")}>
        {(aria) => <CodeInput {...aria} />}
      </Field>
    </div>
  );
}
