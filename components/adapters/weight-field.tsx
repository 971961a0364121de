"use client";
import { TextField } from "@/components/blocks/form/fields";

type Props = { id: string; value: string; onChange(value: string): void; hint: string };

/** The strength of an adapter: empty, or a number from 0 to 2. */
export const WeightField = ({ id, value, onChange, hint }: Props) => (
  <TextField
    name={id}
    label="Strength"
    hint={hint}
    problem={readWeight(value) === undefined ? "Enter a number from 0 to 2." : undefined}
    value={value}
    inputMode="decimal"
    placeholder="Recommended"
    className="max-w-48"
    onChange={({ target }) => onChange(target.value)}
  />
);

/** The strength as typed: null when empty, undefined when it is not a number from 0 to 2. */
export function readWeight(text: string): number | null | undefined {
  if (text.trim() === "") return null;
  const weight = Number(text);
  return Number.isFinite(weight) && weight >= 0 && weight <= 2 ? weight : undefined;
}
