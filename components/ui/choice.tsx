"use client";
import { useId } from "react";
import { Label } from "./label";
import { Select } from "./select";

/** A choice of a few options, below its label. */
export function Choice({
  label,
  value,
  options,
  placeholder,
  disabled,
  onChange,
}: {
  label: string;
  value: string;
  options: [value: string, label: string][];
  placeholder?: string;
  disabled?: boolean;
  onChange(value: string): void;
}) {
  const id = useId();
  return (
    <div className="min-w-0 space-y-1.5">
      <Label htmlFor={id}>{label}</Label>
      <Select
        {...{ id, value, placeholder, disabled }}
        options={options.map(([value, label]) => ({ value, label }))}
        onValueChange={onChange}
      />
    </div>
  );
}
