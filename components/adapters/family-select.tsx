"use client";
import { useSuspenseQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { ChoiceField } from "@/components/blocks/form/fields";
import { useTRPC } from "@/components/data/trpc";

const NONE = "none"; // a select cannot hold an empty value

type Props = {
  id: string;
  value: string;
  onChange(value: string): void;
  /** The label of the empty choice; undefined when a family is required. */
  none?: string;
  hint: ReactNode;
};

/** Selects the base model family of an adapter. An empty value shows as `none`. */
export function FamilySelect({ id, value, onChange, none, hint }: Props) {
  const trpc = useTRPC();
  const { data: choices } = useSuspenseQuery(trpc.adapters.choices.queryOptions());
  const families = choices.families.map(({ name, title }) => ({ value: name, label: title }));
  return (
    <ChoiceField
      name={id}
      label="Base model"
      hint={hint}
      placeholder="Choose a base model"
      value={value === "" && none ? NONE : value}
      onValueChange={(chosen) => onChange(chosen === NONE ? "" : chosen)}
      options={none ? [{ value: NONE, label: none }, ...families] : families}
    />
  );
}
