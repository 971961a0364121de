"use client";
import { useId } from "react";
import { Label } from "./label";
import { Select, SelectContent, SelectItem, SelectTrigger } from "./select";

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
      <Select value={value} disabled={disabled} onValueChange={onChange}>
        <SelectTrigger id={id} placeholder={placeholder} />
        <SelectContent>
          {options.map(([each, name]) => (
            <SelectItem key={each} value={each}>
              {name}
            </SelectItem>
          ))}
        </SelectContent>
      </Select>
    </div>
  );
}
