"use client";
import { type ComponentProps, type ReactNode, useId } from "react";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { useProblem } from "./form";

export type Base = {
  /** The contract's name of the field, to which server errors are matched. */
  name: string;
  label: string;
  hint?: ReactNode;
  /** An error that the form itself found. */
  problem?: string | undefined;
};

/** A single-line text field, in a file of its own for pages that need no other field. */
export function TextField({ label, hint, problem, ...input }: Base & ComponentProps<"input">) {
  const refused = useProblem(input.name);
  return (
    <Field id={useId()} label={label} hint={hint} problem={problem ?? refused}>
      {(aria) => <Input autoComplete="off" {...input} {...aria} />}
    </Field>
  );
}
