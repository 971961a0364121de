"use client";
import { Plus, Trash2 } from "lucide-react";
import { type ReactNode, useState } from "react";
import type { FieldIssue } from "@/components/trpc";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { cn } from "@/components/ui/class-names";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Select, SelectContent, SelectItem, SelectTrigger } from "@/components/ui/select";
import { Textarea } from "@/components/ui/textarea";
import { ArtifactField, Base64Field } from "./file-fields";
import {
  blankOf,
  boundsOf,
  type Field,
  fieldOf,
  labelOf,
  type Path,
  pathId,
  type Schema,
  variantName,
  variantOf,
} from "./schema";

/** What every field of a form shares. */
export type Form = {
  root: Schema;
  /** Null: no files are uploaded here. */
  projectId: string | null;
  disabled: boolean;
  issues: FieldIssue[];
  set(path: Path, value: unknown): void;
};

type Props = { form: Form; path: Path; value: unknown; required?: boolean };

/** Some say the place in a list as a number, some as its digits. */
const samePath = (a: Path, b: Path) =>
  a.length === b.length && a.every((step, place) => String(step) === String(b[place]));

/** What was said against the value at this very path. */
const issuesAt = (form: Form, path: Path) => form.issues.filter(({ loc }) => samePath(loc, path));

/** The fields of an object: what it needs first, then the rest, folded away while nothing of it is set. */
export function ObjectFields({ form, path, schema, value }: Omit<Props, "required"> & { schema: Schema }) {
  const properties = Object.entries(schema.properties ?? {});
  const isNeeded = (name: string) => schema.required?.includes(name) ?? false;
  const values = (value ?? {}) as Record<string, unknown>; // an object, or what is about to be one
  const needed = properties.filter(([name]) => isNeeded(name));
  const others = properties.filter(([name]) => !isNeeded(name));
  const isTouched = others.some(
    ([name]) =>
      values[name] !== undefined || form.issues.some(({ loc }) => String(loc[path.length]) === name),
  );
  const draw = ([name, each]: [string, Schema]) => (
    <SchemaField
      key={name}
      form={form}
      path={[...path, name]}
      name={name}
      schema={each}
      value={values[name]}
      required={isNeeded(name)}
    />
  );
  return (
    <div className="space-y-4">
      {needed.map(draw)}
      {others.length > 0 &&
        (needed.length === 0 ? (
          others.map(draw)
        ) : (
          <details open={isTouched || undefined} className="group rounded-md border border-line">
            <summary className="px-3 py-2 text-sm font-medium text-muted hover:text-text">
              {others.length === 1 ? "1 more field" : `${others.length} more fields`}
            </summary>
            <div className="space-y-4 border-t border-line p-3">{others.map(draw)}</div>
          </details>
        ))}
    </div>
  );
}

/** One field of the form, drawn by its schema. */
export function SchemaField({ name, schema, ...props }: Props & { name: string; schema: Schema }) {
  const field = fieldOf(name, schema, props.form.root);
  return <Drawn field={field} name={name} {...props} />;
}

type DrawnProps<K extends Field["kind"]> = Props & { name: string; field: Extract<Field, { kind: K }> };

function Drawn({ field, ...props }: Props & { name: string; field: Field }) {
  switch (field.kind) {
    case "text":
      return <TextField field={field} {...props} />;
    case "number":
      return <NumberField field={field} {...props} />;
    case "choice":
      return <ChoiceField field={field} {...props} />;
    case "switch":
      return <SwitchField field={field} {...props} />;
    case "object":
      return <ObjectField field={field} {...props} />;
    case "list":
      return <ListField field={field} {...props} />;
    case "variants":
      return <VariantField field={field} {...props} />;
    case "artifact":
      return (
        <Framed {...props} schema={field.schema}>
          {(aria) => (
            <ArtifactField
              {...aria}
              projectId={props.form.projectId}
              disabled={props.form.disabled}
              value={typeof props.value === "string" ? props.value : ""}
              label={labelFor(props)}
              onChange={(value) => props.form.set(props.path, value || undefined)}
            />
          )}
        </Framed>
      );
    case "file":
      return (
        <Framed {...props} schema={field.schema}>
          {(aria) => (
            <Base64Field
              {...aria}
              disabled={props.form.disabled}
              value={typeof props.value === "string" ? props.value : ""}
              label={labelFor(props)}
              onChange={(value) => props.form.set(props.path, value || undefined)}
            />
          )}
        </Framed>
      );
    case "json":
      return <JsonField field={field} {...props} />;
  }
}

/** An entry of a list is named by its list and its place. */
const labelFor = ({ name, path }: { name: string; path: Path }) => {
  const last = path.at(-1);
  return typeof last === "number" ? `${labelOf(name)} ${last + 1}` : labelOf(name);
};

type Aria = { id: string; "aria-invalid": true | undefined; "aria-describedby": string | undefined };

/** Label, field, what it allows and what was said against it, tied together for readers. */
function Framed({
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
          {required && (
            <span className="font-normal text-muted" aria-hidden>
              {" "}
              · required
            </span>
          )}
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

function Issues({ id, issues }: { id: string; issues: FieldIssue[] }) {
  if (issues.length === 0) return null;
  return (
    <p id={id} className="text-xs font-medium text-bad" data-issue>
      {issues.map(({ msg }) => msg).join(" ")}
    </p>
  );
}

function TextField(props: DrawnProps<"text">) {
  const { field, form, path, value, required } = props;
  const { maxLength, pattern: _ } = field.schema;
  const shared = {
    value: typeof value === "string" ? value : value === undefined ? "" : String(value),
    disabled: form.disabled,
    required,
    // Left empty, a field that may be absent is absent.
    onChange: (event: { target: { value: string } }) =>
      form.set(path, event.target.value === "" && !required ? undefined : event.target.value),
    placeholder: typeof field.schema.default === "string" ? field.schema.default : undefined,
  };
  return (
    <Framed {...props} schema={field.schema}>
      {(aria) =>
        field.long ? (
          <Textarea {...aria} {...shared} rows={3} />
        ) : (
          <Input {...aria} {...shared} data-longest={maxLength} />
        )
      }
    </Framed>
  );
}

function NumberField(props: DrawnProps<"number">) {
  const { field, form, path, value, required } = props;
  const { minimum, maximum, default: preset } = field.schema;
  const bound = (limit: number | undefined) =>
    limit === undefined || Math.abs(limit) >= Number.MAX_SAFE_INTEGER ? undefined : limit;
  return (
    <Framed {...props} schema={field.schema}>
      {(aria) => (
        <Input
          {...aria}
          type="number"
          inputMode={field.integer ? "numeric" : "decimal"}
          step={field.integer ? 1 : "any"}
          min={bound(minimum)}
          max={bound(maximum)}
          required={required}
          disabled={form.disabled}
          placeholder={typeof preset === "number" ? String(preset) : undefined}
          value={typeof value === "number" ? value : ""}
          onChange={({ target }) => form.set(path, target.value === "" ? undefined : Number(target.value))}
          className="max-w-56 tabular-nums"
        />
      )}
    </Framed>
  );
}

const UNSET = " unset";

function ChoiceField(props: DrawnProps<"choice">) {
  const { field, form, path, value, required } = props;
  const { default: preset } = field.schema;
  const shown = value === undefined ? UNSET : JSON.stringify(value);
  return (
    <Framed {...props} schema={{ ...field.schema, default: undefined }}>
      {(aria) => (
        <Select
          value={shown}
          disabled={form.disabled}
          onValueChange={(picked) => form.set(path, picked === UNSET ? undefined : JSON.parse(picked))}
        >
          <SelectTrigger {...aria} className="max-w-72" />
          <SelectContent>
            {(!required || value === undefined) && (
              <SelectItem value={UNSET}>
                {preset === undefined ? "Not set" : `${String(preset)} (when left out)`}
              </SelectItem>
            )}
            {field.options
              .filter((option) => option !== null)
              .map((option) => (
                <SelectItem key={JSON.stringify(option)} value={JSON.stringify(option)}>
                  {String(option)}
                </SelectItem>
              ))}
          </SelectContent>
        </Select>
      )}
    </Framed>
  );
}

function SwitchField({ field, form, path, name, value }: DrawnProps<"switch">) {
  const id = pathId(path);
  const issues = issuesAt(form, path);
  const { description, default: preset } = field.schema;
  return (
    <div className="space-y-1">
      <div className="flex items-start gap-2">
        <Checkbox
          id={id}
          className="mt-0.5"
          checked={typeof value === "boolean" ? value : preset === true}
          disabled={form.disabled}
          aria-describedby={description ? `${id}-hint` : undefined}
          onCheckedChange={(checked) => form.set(path, checked === true)}
        />
        <Label htmlFor={id}>{labelOf(name)}</Label>
      </div>
      {description && (
        <p id={`${id}-hint`} className="pl-6 text-xs text-muted">
          {description}
        </p>
      )}
      <Issues id={`${id}-issue`} issues={issues} />
    </div>
  );
}

/** A group of fields. One that may be absent is added and taken away as a whole. */
function ObjectField({ field, form, path, name, value, required }: DrawnProps<"object">) {
  const { schema } = field;
  const label = labelFor({ name, path });
  const isEntry = typeof path.at(-1) === "number";
  if (value === undefined && !required && !isEntry) {
    return (
      <div className="flex flex-wrap items-center gap-2">
        <Button size="sm" disabled={form.disabled} onClick={() => form.set(path, blankOf(schema, form.root))}>
          <Plus aria-hidden />
          Add {label.toLowerCase()}
        </Button>
        {schema.description && <span className="text-xs text-muted">{schema.description}</span>}
      </div>
    );
  }
  return (
    <fieldset className={cn("min-w-0", !isEntry && "rounded-md border border-line p-3")}>
      <legend className={isEntry ? "sr-only" : "px-1 text-sm font-medium"}>{label}</legend>
      <Issues id={`${pathId(path)}-issue`} issues={issuesAt(form, path)} />
      <ObjectFields form={form} path={path} schema={schema} value={value} />
      {!required && !isEntry && (
        <Button
          variant="ghost"
          size="sm"
          className="mt-3"
          disabled={form.disabled}
          onClick={() => form.set(path, undefined)}
        >
          <Trash2 aria-hidden />
          Remove {label.toLowerCase()}
        </Button>
      )}
    </fieldset>
  );
}

/** Entries of one kind, added and removed one by one. */
function ListField({ field, form, path, name, value, required }: DrawnProps<"list">) {
  const list = Array.isArray(value) ? value : [];
  const { schema, items } = field;
  const [least, most] = [schema.minItems ?? 0, schema.maxItems ?? Number.POSITIVE_INFINITY];
  const label = labelFor({ name, path });
  const singular = name.replace(/ies$/, "y").replace(/s$/, "");
  const hint = [schema.description, boundsOf(schema)].filter(Boolean).join(" · ");
  const change = (next: unknown[]) => form.set(path, next.length === 0 && !required ? undefined : next);
  return (
    <fieldset className="min-w-0 space-y-2">
      <legend className="text-sm font-medium" id={pathId(path)}>
        {label}
        {required && (
          <span className="font-normal text-muted" aria-hidden>
            {" "}
            · required
          </span>
        )}
      </legend>
      {hint && <p className="text-xs text-muted">{hint}</p>}
      <Issues id={`${pathId(path)}-issue`} issues={issuesAt(form, path)} />
      {list.map((entry, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an entry is its place; it has no other name
        <div key={place} className="flex items-start gap-2 rounded-md border border-line bg-canvas p-3">
          <div className="min-w-0 flex-1">
            <SchemaField
              form={form}
              path={[...path, place]}
              name={singular}
              schema={items}
              value={entry}
              required
            />
          </div>
          <Button
            variant="ghost"
            size="icon-sm"
            disabled={form.disabled || list.length <= least}
            aria-label={`Remove ${labelOf(singular).toLowerCase()} ${place + 1}`}
            onClick={() => change(list.filter((_, other) => other !== place))}
          >
            <Trash2 aria-hidden />
          </Button>
        </div>
      ))}
      <Button
        size="sm"
        disabled={form.disabled || list.length >= most}
        onClick={() => change([...list, blankOf(items, form.root)])}
      >
        <Plus aria-hidden />
        Add {labelOf(singular).toLowerCase()}
      </Button>
    </fieldset>
  );
}

/** A value that may have one of several shapes: the shape is chosen, then its fields are drawn. */
function VariantField(props: DrawnProps<"variants">) {
  const { field, form, path, name, value, required } = props;
  const chosen = value === undefined && !required ? -1 : variantOf(value, field.variants);
  const variant = field.variants[chosen];
  const id = `${pathId(path)}-shape`;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <Label htmlFor={id} className="text-muted">
          {labelFor(props)} as
        </Label>
        <Select
          value={String(chosen)}
          disabled={form.disabled}
          onValueChange={(picked) => {
            const next = field.variants[Number(picked)];
            form.set(path, next ? blankOf(next, form.root) : undefined);
          }}
        >
          <SelectTrigger id={id} className="h-8 w-auto min-w-28 text-sm" />
          <SelectContent>
            {!required && <SelectItem value="-1">Not set</SelectItem>}
            {field.variants.map((each, place) => (
              <SelectItem key={variantName(each)} value={String(place)}>
                {variantName(each)}
              </SelectItem>
            ))}
          </SelectContent>
        </Select>
      </div>
      {variant && <SchemaField form={form} path={path} name={name} schema={variant} value={value} required />}
    </div>
  );
}

/** What has no fixed shape is written as JSON; what cannot be read is kept as it was written until it can. */
function JsonField(props: DrawnProps<"json">) {
  const { field, form, path, value } = props;
  return (
    <Framed {...props} schema={field.schema}>
      {(aria) => (
        <JsonText
          aria={aria}
          value={value}
          disabled={form.disabled}
          onChange={(next) => form.set(path, next)}
          label={labelFor(props)}
        />
      )}
    </Framed>
  );
}

/** An editor of JSON text over a value somebody else may change too. */
export function JsonText({
  aria,
  value,
  disabled,
  onChange,
  label,
  className,
}: {
  aria: Partial<Aria>;
  value: unknown;
  disabled: boolean;
  onChange(value: unknown): void;
  label: string;
  className?: string;
}) {
  const written = value === undefined ? "" : JSON.stringify(value, null, 2);
  // While the text stands for the value, the value leads; text that cannot be read leads until it can.
  const [draft, setDraft] = useState<{ text: string; of: string } | null>(null);
  const text = draft && draft.of === written ? draft.text : written;
  const problem = problemOf(text);
  const problemId = `${aria.id ?? "json"}-problem`;
  return (
    <>
      <Textarea
        {...aria}
        aria-label={aria.id ? undefined : label}
        aria-invalid={problem ? true : aria["aria-invalid"]}
        aria-describedby={
          [aria["aria-describedby"], problem && problemId].filter(Boolean).join(" ") || undefined
        }
        spellCheck={false}
        disabled={disabled}
        value={text}
        className={cn("font-mono text-xs leading-5", className)}
        onChange={({ target }) => {
          const next = target.value;
          if (next.trim() === "") {
            setDraft({ text: next, of: "" });
            return onChange(undefined);
          }
          if (problemOf(next)) return setDraft({ text: next, of: written });
          const parsed = JSON.parse(next);
          setDraft({ text: next, of: JSON.stringify(parsed, null, 2) });
          onChange(parsed);
        }}
      />
      {problem && (
        <p id={problemId} role="alert" className="mt-1 text-xs font-medium text-bad">
          {problem}
        </p>
      )}
    </>
  );
}

function problemOf(text: string): string | null {
  if (text.trim() === "") return null;
  try {
    JSON.parse(text);
    return null;
  } catch {
    return "This is not JSON yet; the last readable text is what would be sent.";
  }
}
