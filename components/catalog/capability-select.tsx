"use client";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";

const ANY = "any"; // a select cannot hold an empty value

/** Filters a list by capability. The chosen one stays available even when the list has none of it. */
export function CapabilitySelect({
  value,
  capabilities,
  onChange,
}: {
  value: string | undefined;
  /** Keys to choose from. */
  capabilities: string[];
  onChange: (capability: string | undefined) => void;
}) {
  const keys = value ? [...new Set([...capabilities, value])].sort() : capabilities;
  return (
    <Select value={value ?? ANY} onValueChange={(key) => onChange(key === ANY ? undefined : key)}>
      <SelectTrigger aria-label="Capability" className="h-8 w-full text-sm sm:w-56" />
      <SelectContent>
        <SelectItem value={ANY}>Any capability</SelectItem>
        {keys.map((key) => (
          <SelectItem key={key} value={key}>
            {key}
          </SelectItem>
        ))}
      </SelectContent>
    </Select>
  );
}
