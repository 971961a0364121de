"use client";
import { fieldLabel, pathId } from "@/components/playground/schema";
import { Checkbox } from "@/components/ui/checkbox";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Select } from "@/components/ui/select";
import { Textarea } from "@/components/ui/textarea";
import { type DrawnProps, Framed, Issues, issuesAt, labelFor } from "./frame";
import { JsonText } from "./json-text";

/* Fields of single values. */

export function TextValueField(props: DrawnProps<"text">) {
  const { field, form, path, value, required } = props;
  const shared = {
    value: typeof value === "string" ? value : value === undefined ? "" : String(value),
    disabled: form.disabled,
    required,
    // An empty optional field is absent.
    onChange: (event: { target: { value: string } }) =>
      form.set(path, event.target.value === "" && !required ? undefined : event.target.value),
    placeholder: typeof field.schema.default === "string" ? field.schema.default : undefined,
  };
  return (
    <Framed {...props} schema={field.schema}>
      {(aria) => (field.long ? <Textarea {...aria} {...shared} rows={3} /> : <Input {...aria} {...shared} />)}
    </Framed>
  );
}

export function NumberField(props: DrawnProps<"number">) {
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

export function ChoiceValueField(props: DrawnProps<"choice">) {
  const { field, form, path, value, required } = props;
  const { default: preset } = field.schema;
  const shown = value === undefined ? UNSET : JSON.stringify(value);
  const unset = { value: UNSET, label: preset === undefined ? "Not set" : `${String(preset)} (default)` };
  const options = field.options
    .filter((option) => option !== null)
    .map((option) => ({ value: JSON.stringify(option), label: String(option) }));
  return (
    <Framed {...props} schema={{ ...field.schema, default: undefined }}>
      {(aria) => (
        <Select
          {...aria}
          className="max-w-72"
          value={shown}
          disabled={form.disabled}
          options={!required || value === undefined ? [unset, ...options] : options}
          onValueChange={(picked) => form.set(path, picked === UNSET ? undefined : JSON.parse(picked))}
        />
      )}
    </Framed>
  );
}

export function SwitchField({ field, form, path, name, value }: DrawnProps<"switch">) {
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
        <Label htmlFor={id}>{fieldLabel(name)}</Label>
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

/** A value without a fixed shape is edited as JSON. Invalid text is kept as typed. */
export function JsonField(props: DrawnProps<"json">) {
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
