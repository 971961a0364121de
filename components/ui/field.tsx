import type { ReactNode } from "react";
import { Label } from "./label";

/** A field with its label above, and a hint and an error below. */
export function Field({
  id,
  label,
  hint,
  problem,
  children,
}: {
  id: string;
  label: string;
  hint?: ReactNode;
  problem?: string | undefined;
  children: (aria: { id: string; "aria-describedby"?: string; "aria-invalid"?: true }) => ReactNode;
}) {
  const described = hint || problem ? { "aria-describedby": `${id}-hint` } : {};
  return (
    <div className="min-w-0 space-y-1.5">
      <Label htmlFor={id}>{label}</Label>
      {children({ id, ...described, ...(problem ? { "aria-invalid": true as const } : {}) })}
      {(hint || problem) && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {problem && (
            <span role="alert" className="block font-medium text-bad first-letter:uppercase">
              {problem}{" "}
            </span>
          )}
          {hint}
        </p>
      )}
    </div>
  );
}
