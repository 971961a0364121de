"use client";
import { TextField } from "@/components/blocks/form/fields";
import { readWeight } from "./read-weight";

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
