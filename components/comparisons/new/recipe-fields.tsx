"use client";
import { Trash2 } from "lucide-react";
import type { FieldIssue } from "@/components/data/trpc";
import { SchemaField } from "@/components/playground/input/fields";
import type { FormFieldProps } from "@/components/playground/input/frame";
import type { Input } from "@/components/playground/schema";
import { fieldLabel, type InputSchema, type Path, settle, withValue } from "@/components/playground/schema";
import { Button } from "@/components/ui/button";
import { Checkbox } from "@/components/ui/checkbox";
import { Input as TextInput } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Select } from "@/components/ui/select";
import type { Override, Recipe } from "./draft";

/** One recipe: its name and the fields it changes, rendered like the fields of the playground. */
export function RecipeFields({
  projectId,
  schema,
  fields,
  recipe,
  place,
  base,
  disabled,
  issues,
  onChange,
  onRemove,
}: {
  projectId: string;
  schema: InputSchema;
  /** The names of the fields that may be changed. */
  fields: string[];
  recipe: Recipe;
  place: number;
  /** The request, which provides the initial values. */
  base: Input;
  disabled: boolean;
  issues: FieldIssue[];
  onChange(change: Partial<Recipe>): void;
  onRemove(): void;
}) {
  const labelId = `recipe-${place}-label`;
  // Keeps field ids unique across the request and other recipes.
  const prefix = `recipe-${place}`;
  const set = (overrides: Override[]) => onChange({ overrides });
  const form: FormFieldProps = {
    root: schema,
    projectId,
    disabled,
    issues: issues.map((issue) => ({ ...issue, loc: [prefix, ...issue.loc] })),
    set: ([, field, ...rest]: Path, value) =>
      set(
        recipe.overrides.map((each) =>
          each.field === field ? { ...each, value: withValue(each.value, rest, value) } : each,
        ),
      ),
  };
  const taken = new Set(recipe.overrides.map(({ field }) => field));
  const left = fields.filter((field) => !taken.has(field));
  const loose = issues.filter(({ loc }) => !taken.has(String(loc[0])));
  return (
    <fieldset
      aria-label={`Recipe ${place + 1}`}
      className="min-w-0 space-y-3 rounded-md border border-line p-3"
    >
      <div className="flex items-end gap-2">
        <div className="min-w-0 flex-1 space-y-1.5">
          <Label htmlFor={labelId}>Name of recipe {place + 1}</Label>
          <TextInput
            id={labelId}
            value={recipe.label}
            disabled={disabled}
            maxLength={255}
            placeholder={`Recipe ${place + 1}`}
            onChange={({ target }) => onChange({ label: target.value })}
          />
        </div>
        <Button
          size="icon"
          className="size-9"
          disabled={disabled}
          aria-label={`Remove recipe ${place + 1}`}
          onClick={onRemove}
        >
          <Trash2 aria-hidden />
        </Button>
      </div>
      {recipe.overrides.length === 0 && (
        <p className="text-xs text-muted">No changes yet. This recipe runs the request as it is.</p>
      )}
      {recipe.overrides.map((override) => (
        <OverrideField
          key={override.field}
          form={form}
          prefix={prefix}
          override={override}
          schema={schema.properties?.[override.field] ?? {}}
          isRequired={schema.required?.includes(override.field) ?? false}
          onChange={(change) =>
            set(recipe.overrides.map((each) => (each === override ? { ...each, ...change } : each)))
          }
          onRemove={() => set(recipe.overrides.filter((each) => each !== override))}
        />
      ))}
      {loose.length > 0 && (
        <p className="text-xs font-medium text-bad" data-issue>
          {loose.map(({ msg }) => msg).join(" ")}
        </p>
      )}
      {left.length > 0 && (
        <Select
          aria-label={`Change field of recipe ${place + 1}`}
          placeholder="Change a field …"
          className="h-8 text-sm"
          value=""
          disabled={disabled}
          options={left.map((field) => ({ value: field, label: fieldLabel(field) }))}
          onValueChange={(field) =>
            set([
              ...recipe.overrides,
              { field, value: base[field] ?? presetOf(schema, field), isLeftOut: false },
            ])
          }
        />
      )}
    </fieldset>
  );
}

/** The initial value of a field that the request omits. */
const presetOf = (schema: InputSchema, field: string) =>
  settle(schema.properties?.[field] ?? {}, schema).default;

type Props = {
  form: FormFieldProps;
  prefix: string;
  override: Override;
  schema: InputSchema;
  isRequired: boolean;
  onChange(change: Partial<Override>): void;
  onRemove(): void;
};

function OverrideField({ form, prefix, override, schema, isRequired, onChange, onRemove }: Props) {
  const { field, value, isLeftOut } = override;
  const leaveId = `${prefix}-${field}-left-out`;
  return (
    <div className="space-y-2 border-l-2 border-line pl-3">
      {isLeftOut ? (
        <p className="text-sm text-muted">
          <span className="font-medium text-text">{fieldLabel(field)}</span> is omitted.
        </p>
      ) : (
        <SchemaField name={field} schema={schema} form={form} path={[prefix, field]} value={value} required />
      )}
      <div className="flex flex-wrap items-center gap-x-4 gap-y-1">
        {!isRequired && (
          <span className="inline-flex items-center gap-2">
            <Checkbox
              id={leaveId}
              checked={isLeftOut}
              disabled={form.disabled}
              onCheckedChange={(checked) => onChange({ isLeftOut: checked === true })}
            />
            <Label htmlFor={leaveId} className="text-xs font-normal">
              Omit {fieldLabel(field).toLowerCase()}
            </Label>
          </span>
        )}
        <Button size="sm" variant="ghost" disabled={form.disabled} onClick={onRemove}>
          Reset field
          <span className="sr-only">: {fieldLabel(field).toLowerCase()}</span>
        </Button>
      </div>
    </div>
  );
}
