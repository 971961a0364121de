"use client";
import type { ReactNode } from "react";
import type { FieldIssue } from "@/components/data/trpc";
import {
  boundsOf,
  type Field,
  fieldLabel,
  type InputSchema,
  type Path,
  pathId,
} from "@/components/playground/schema";
import { Label } from "@/components/ui/label";

/** The props that every form field shares. */
export type FormFieldProps = {
  root: InputSchema;
  /** Null if uploads are not available here. */
  projectId: string | null;
  disabled: boolean;
  issues: FieldIssue[];
  set(path: Path, value: unknown): void;
};

export type Props = { form: FormFieldProps; path: Path; value: unknown; required?: boolean };

/** Some issues have list indexes as numbers, some as strings. */
const samePath = (a: Path, b: Path) =>
  a.length === b.length && a.every((step, place) => String(step) === String(b[place]));

/** The issues at exactly this path. */
export const issuesAt = (form: FormFieldProps, path: Path) =>
  form.issues.filter(({ loc }) => samePath(loc, path));

/** The props of a field of one kind. */
export type DrawnProps<K extends Field["kind"]> = Props & {
  name: string;
  field: Extract<Field, { kind: K }>;
};

/** A list entry is named by its list and index. */
export const labelFor = ({ name, path }: { name: string; path: Path }) => {
  const last = path.at(-1);
  return typeof last === "number" ? `${fieldLabel(name)} ${last + 1}` : fieldLabel(name);
};

/** The attributes that tie a control to its label, hint and issues. */
export type Aria = { id: string; "aria-invalid": true | undefined; "aria-describedby": string | undefined };

/** Visible, but not read by screen readers. */
export function RequiredMark() {
  return (
    <span className="font-normal text-muted" aria-hidden>
      {" "}
      · required
    </span>
  );
}

/** A label, a field, its hint and its issues, tied together for screen readers. */
export function Framed({
  form,
  path,
  name,
  required,
  schema,
  actions,
  children,
}: Props & { name: string; schema: InputSchema; actions?: ReactNode; children(aria: Aria): ReactNode }) {
  const id = pathId(path);
  const issues = issuesAt(form, path);
  const help = schema.description ?? null;
  const bounds = boundsOf(schema);
  const hint = [help, bounds].filter(Boolean).join(" · ");
  const described = [hint && `${id}-hint`, issues.length > 0 && `${id}-issue`].filter(Boolean).join(" ");
  return (
    <div className="min-w-0 space-y-1.5">
      <div className="flex min-h-5 items-center gap-2">
        <Label htmlFor={id} className="min-w-0 truncate">
          {labelFor({ name, path })}
          {required && <RequiredMark />}
        </Label>
        {actions && <div className="ml-auto">{actions}</div>}
      </div>
      {children({
        id,
        "aria-invalid": issues.length > 0 || undefined,
        "aria-describedby": described || undefined,
      })}
      {hint && (
        <p id={`${id}-hint`} className="text-xs text-muted">
          {hint}
        </p>
      )}
      <Issues id={`${id}-issue`} issues={issues} />
    </div>
  );
}

export function Issues({ id, issues }: { id: string; issues: FieldIssue[] }) {
  if (issues.length === 0) return null;
  return (
    <p id={id} className="text-xs font-medium text-bad" data-issue>
      {issues.map(({ msg }) => msg).join(" ")}
    </p>
  );
}
