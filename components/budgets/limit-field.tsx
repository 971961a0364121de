import { cn } from "@/components/ui/class-names";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";

/** A ceiling in US dollars; empty: none. It is sent by the form, under `name`. */
export function LimitField({
  id,
  name,
  label,
  micros,
  className,
}: {
  id: string;
  name: string;
  label: string;
  micros: number | null;
  className?: string;
}) {
  return (
    <div className={cn("space-y-1.5", className)}>
      <Label htmlFor={id}>{label}</Label>
      <Input
        id={id}
        name={name}
        type="number"
        min={0}
        max={1_000_000_000}
        step="any"
        placeholder="No limit"
        defaultValue={micros === null ? "" : micros / 1_000_000}
      />
    </div>
  );
}
