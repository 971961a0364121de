"use client";
import { Plus, Trash2 } from "lucide-react";
import {
  blankOf,
  boundsOf,
  type Field,
  fieldLabel,
  fieldOf,
  type InputSchema,
  pathId,
  singularOf,
  variantName,
  variantOf,
} from "@/components/playground/schema";
import { Button } from "@/components/ui/button";
import { cn } from "@/components/ui/class-names";
import { Label } from "@/components/ui/label";
import { Select } from "@/components/ui/select";
import { ArtifactField, Base64Field } from "./file-fields";
import { type DrawnProps, Framed, Issues, issuesAt, labelFor, type Props, RequiredMark } from "./frame";
import { ChoiceValueField, JsonField, NumberField, SwitchField, TextValueField } from "./value-fields";

/**
 * An object's fields: required ones first, then the others, folded while none of them is set or has an issue. Nothing is
 * folded if no field is required.
 */
export function ObjectFields({
  form,
  path,
  schema,
  value,
}: Omit<Props, "required"> & { schema: InputSchema }) {
  const properties = Object.entries(schema.properties ?? {});
  const isNeeded = (name: string) => schema.required?.includes(name) ?? false;
  const values = (value ?? {}) as Record<string, unknown>; // an object, or undefined until one of its fields is set
  const needed = properties.filter(([name]) => isNeeded(name));
  const others = properties.filter(([name]) => !isNeeded(name));
  const isTouched = others.some(
    ([name]) =>
      values[name] !== undefined || form.issues.some(({ loc }) => String(loc[path.length]) === name),
  );
  const draw = ([name, each]: [string, InputSchema]) => (
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

/** One form field, rendered from its schema. */
export function SchemaField({ name, schema, ...props }: Props & { name: string; schema: InputSchema }) {
  const field = fieldOf(name, schema, props.form.root);
  return <Drawn field={field} name={name} {...props} />;
}

function Drawn({ field, ...props }: Props & { name: string; field: Field }) {
  switch (field.kind) {
    case "text":
      return <TextValueField field={field} {...props} />;
    case "number":
      return <NumberField field={field} {...props} />;
    case "choice":
      return <ChoiceValueField field={field} {...props} />;
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
              hint={props.required ? "Enter an artifact id of this project, or upload a file." : ""}
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

/** A group of fields. An optional group is added and removed as a whole. */
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

/** A list of entries, added and removed one by one. */
function ListField({ field, form, path, name, value, required }: DrawnProps<"list">) {
  const list = Array.isArray(value) ? value : [];
  const { schema, items } = field;
  const [least, most] = [schema.minItems ?? 0, schema.maxItems ?? Number.POSITIVE_INFINITY];
  const label = labelFor({ name, path });
  const singular = singularOf(name);
  const hint = [schema.description, boundsOf(schema)].filter(Boolean).join(" · ");
  const change = (next: unknown[]) => form.set(path, next.length === 0 && !required ? undefined : next);
  return (
    <fieldset className="min-w-0 space-y-2">
      <legend className="text-sm font-medium" id={pathId(path)}>
        {label}
        {required && <RequiredMark />}
      </legend>
      {hint && <p className="text-xs text-muted">{hint}</p>}
      <Issues id={`${pathId(path)}-issue`} issues={issuesAt(form, path)} />
      {list.map((entry, place) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an entry has no identity but its index
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
            aria-label={`Remove ${fieldLabel(singular).toLowerCase()} ${place + 1}`}
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
        Add {fieldLabel(singular).toLowerCase()}
      </Button>
    </fieldset>
  );
}

/** A value with several possible shapes: the reader chooses the shape, then its fields appear. */
function VariantField(props: DrawnProps<"variants">) {
  const { field, form, path, name, value, required } = props;
  const chosen = value === undefined && !required ? -1 : variantOf(value, field.variants);
  const variant = field.variants[chosen];
  const id = `${pathId(path)}-shape`;
  return (
    <div className="space-y-2">
      <div className="flex flex-wrap items-center gap-2">
        <Label htmlFor={id} className="text-muted">
          {labelFor(props)} type
        </Label>
        <Select
          id={id}
          className="h-8 w-auto min-w-28 text-sm"
          value={String(chosen)}
          disabled={form.disabled}
          options={[
            ...(required ? [] : [{ value: "-1", label: "Not set" }]),
            ...field.variants.map((each, place) => ({ value: String(place), label: variantName(each) })),
          ]}
          onValueChange={(picked) => {
            const next = field.variants[Number(picked)];
            form.set(path, next ? blankOf(next, form.root) : undefined);
          }}
        />
      </div>
      {variant && <SchemaField form={form} path={path} name={name} schema={variant} value={value} required />}
    </div>
  );
}
