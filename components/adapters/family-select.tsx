"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { useTRPC } from "@/components/trpc";
import { Field } from "@/components/ui/field";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";

const NONE = "none"; // a select cannot hold an empty value

/** Selects the base model family of an adapter. An empty value shows as `none`. */
export function FamilySelect({
  id,
  value,
  onChange,
  none,
  hint,
}: {
  id: string;
  value: string;
  onChange(value: string): void;
  /** The label of the empty choice; undefined when a family is required. */
  none?: string;
  hint: ReactNode;
}) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  return (
    <Field id={id} label="Base model" hint={hint}>
      {(aria) => (
        <Select
          value={value === "" && none ? NONE : value}
          onValueChange={(chosen) => onChange(chosen === NONE ? "" : chosen)}
        >
          <SelectTrigger {...aria} placeholder="Choose a base model" />
          <SelectContent>
            {none && <SelectItem value={NONE}>{none}</SelectItem>}
            {choices.families.map(({ name, title }) => (
              <SelectItem key={name} value={name}>
                {title}
              </SelectItem>
            ))}
          </SelectContent>
        </Select>
      )}
    </Field>
  );
}
