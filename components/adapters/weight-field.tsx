"use client";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { readWeight } from "./read-weight";

/** How strong an adapter is to draw: nothing, or a number from 0 to 2. */
export function WeightField({
  id,
  value,
  onChange,
  hint,
}: {
  id: string;
  value: string;
  onChange(value: string): void;
  hint: string;
}) {
  return (
    <Field
      id={id}
      label="Strength"
      hint={hint}
      problem={readWeight(value) === undefined ? "A number from 0 to 2." : undefined}
    >
      {(aria) => (
        <Input
          {...aria}
          value={value}
          inputMode="decimal"
          autoComplete="off"
          placeholder="As recommended"
          className="max-w-48"
          onChange={({ target }) => onChange(target.value)}
        />
      )}
    </Field>
  );
}
