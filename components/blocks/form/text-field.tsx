"use client";
import { type ComponentProps, type ReactNode, useId } from "react";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { useProblem } from "./form";

export type Base = {
  /** The contract's name, at which its refusals are shown. */
  name: string;
  label: string;
  hint?: ReactNode;
  /** What its form itself found. */
  problem?: string | undefined;
};

/** A line of text. Apart from the other fields, for pages that need no other. */
export function TextField({ label, hint, problem, ...input }: Base & ComponentProps<"input">) {
  const refused = useProblem(input.name);
  return (
    <Field id={useId()} label={label} hint={hint} problem={problem ?? refused}>
      {(aria) => <Input autoComplete="off" {...input} {...aria} />}
    </Field>
  );
}
