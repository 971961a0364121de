"use client";
import type { ReactNode } from "react";
import type { FieldIssue } from "@/components/trpc";
import { Label } from "@/components/ui/label";
import { boundsOf, type Field, labelOf, type Path, pathId, type Schema } from "./schema";

/** What every field of a form shares. */
export type Form = {
  root: Schema;
  /** Null: no files are uploaded here. */
  projectId: string | null;
  disabled: boolean;
  issues: FieldIssue[];
  set(path: Path, value: unknown): void;
};

export type Props = { form: Form; path: Path; value: unknown; required?: boolean };

/** Some say the place in a list as a number, some as its digits. */
const samePath = (a: Path, b: Path) =>
  a.length === b.length && a.every((step, place) => String(step) === String(b[place]));

/** What was said against the value at this very path. */
export const issuesAt = (form: Form, path: Path) => form.issues.filter(({ loc }) => samePath(loc, path));

/** What a field of one kind is drawn from. */
export type DrawnProps<K extends Field["kind"]> = Props & {
  name: string;
  field: Extract<Field, { kind: K }>;
};

/** An entry of a list is named by its list and its place. */
export const labelFor = ({ name, path }: { name: string; path: Path }) => {
  const last = path.at(-1);
  return typeof last === "number" ? `${labelOf(name)} ${last + 1}` : labelOf(name);
};

/** What ties a control to its label, its hint and its issues. */
export type Aria = { id: string; "aria-invalid": true | undefined; "aria-describedby": string | undefined };

/** Seen, and not read out. */
export function RequiredMark() {
  return (
    <span className="font-normal text-muted" aria-hidden>
      {" "}
      · required
    </span>
  );
}

/** Label, field, what it allows and what was said against it, tied together for readers. */
export function Framed({
  form,
  path,
  name,
  required,
  schema,
  actions,
  children,
}: Props & { name: string; schema: Schema; actions?: ReactNode; children(aria: Aria): ReactNode }) {
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
