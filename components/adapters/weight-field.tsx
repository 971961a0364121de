"use client";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { readWeight } from "./read-weight";

type Props = { id: string; value: string; onChange(value: string): void; hint: string };

/** The strength of an adapter: empty, or a number from 0 to 2. */
export function WeightField({ id, value, onChange, hint }: Props) {
  return (
    <Field
      id={id}
      label="Strength"
      hint={hint}
      problem={readWeight(value) === undefined ? "Enter a number from 0 to 2." : undefined}
    >
      {(aria) => (
        <Input
          {...aria}
          value={value}
          inputMode="decimal"
          autoComplete="off"
          placeholder="Recommended"
          className="max-w-48"
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
