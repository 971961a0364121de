"use client";
import { type ComponentProps, type ReactNode, useId, useState } from "react";
import { type AmountBounds, ANY_AMOUNT, amountText, readAmount } from "@/components/ui/amount";
import { CheckList } from "@/components/ui/check-list";
import { Checkbox } from "@/components/ui/checkbox";
import { cn } from "@/components/ui/class-names";
import { Field } from "@/components/ui/field";
import { Input } from "@/components/ui/input";
import { Label } from "@/components/ui/label";
import { Select, type SelectProps } from "@/components/ui/select";
import { Textarea } from "@/components/ui/textarea";
import { useProblem } from "./form";
import type { Base } from "./text-field";

export type { Option } from "@/components/ui/select";
export { TextField } from "./text-field";

export function LinesField({ label, hint, problem, ...area }: Base & ComponentProps<"textarea">) {
  const refused = useProblem(area.name);
  return (
    <Field id={useId()} label={label} hint={hint} problem={problem ?? refused}>
      {(aria) => <Textarea {...area} {...aria} />}
    </Field>
  );
}

/**
 * A field for an amount of money, parsed from digits and never through floats. It is a text field, because a number field
 * drops text that it cannot parse.
 */
export function MoneyField({
  label,
  hint,
  problem,
  bounds = ANY_AMOUNT,
  micros = null,
  initial = micros === null ? "" : amountText(micros),
  text,
  onText,
  ...input
}: Base & {
  bounds?: AmountBounds;
  /** The initial value; `initial` is the initial text. */
  micros?: number | null;
  initial?: string;
  /** The text, if the form controls it. */
  text?: string;
  onText?(text: string): void;
  required?: boolean;
  placeholder?: string;
}) {
  const [own, setOwn] = useState(initial);
  const value = text ?? own;
  const [isChecked, setChecked] = useState(false);
  const refused = useProblem(input.name);
  const found = value === "" && !input.required ? null : readAmount(value, bounds).problem;
  return (
    <Field id={useId()} label={label} hint={hint} problem={(isChecked && found) || problem || refused}>
      {(aria) => (
        <Input
          {...input}
          {...aria}
          inputMode="decimal"
          autoComplete="off"
          onFocus={({ currentTarget }) => currentTarget.select()} // so that typing replaces the amount
          ref={(element) => element?.setCustomValidity(found ?? "")} // makes the browser refuse to submit it
          value={value}
          onChange={({ target }) => {
            setChecked(false);
            setOwn(target.value);
            onText?.(target.value);
          }}
          onBlur={() => setChecked(true)}
        />
      )}
    </Field>
  );
}

/** A choice of a few options. With `value` the form controls it. */
export function ChoiceField({ name, label, hint, ...select }: Base & SelectProps) {
  return (
    <Field id={useId()} label={label} hint={hint} problem={useProblem(name)}>
      {(aria) => <Select name={name} {...select} {...aria} />}
    </Field>
  );
}

/** A checkbox. With `checked` the form controls it. */
export function CheckField({
  label,
  onChange,
  isQuiet,
  ...box
}: {
  name: string;
  label: string;
  /** Less prominent than its neighbours. */
  isQuiet?: boolean;
  defaultChecked?: boolean;
  checked?: boolean;
  disabled?: boolean;
  onChange?(isChecked: boolean): void;
}) {
  const id = useId();
  return (
    <div className="flex items-center gap-2">
      <Checkbox id={id} onCheckedChange={(checked) => onChange?.(checked === true)} {...box} />
      <Label htmlFor={id} className={cn("font-normal", isQuiet && "text-muted")}>
        {label}
      </Label>
    </div>
  );
}

/** A choice of any number of options, in one list or in titled groups. */
export function ChecksField<Name extends string>({
  name,
  label,
  hint,
  groups,
  words,
  initial = [],
  isNamed = true,
  onChosen,
}: {
  name: string;
  label: string;
  /** False if its label is visible elsewhere. */
  isNamed?: boolean;
  hint?: ReactNode | ((chosen: number) => ReactNode);
  groups: readonly { title?: string; names: readonly Name[] }[];
  words?: Readonly<Record<Name, string>>;
  initial?: readonly Name[];
  onChosen?(count: number): void;
}) {
  const [chosen, setChosen] = useState<ReadonlySet<Name>>(() => new Set(initial));
  const problem = useProblem(name);
  const note = typeof hint === "function" ? hint(chosen.size) : hint;
  return (
    <fieldset>
      <legend className={isNamed ? "text-sm font-medium" : "sr-only"}>{label}</legend>
      {note && <p className="mt-0.5 text-xs text-muted">{note}</p>}
      {groups.map(({ title, names }) => {
        const list = (
          <CheckList
            name={name}
            names={names}
            words={words}
            chosen={chosen}
            onChange={(next) => {
              setChosen(next);
              onChosen?.(next.size);
            }}
          />
        );
        if (!title) return list;
        return (
          <fieldset key={title} className="mt-3">
            <legend className="text-xs font-medium text-muted">{title}</legend>
            {list}
          </fieldset>
        );
      })}
      {problem && <p className="mt-1.5 text-xs font-medium text-bad first-letter:uppercase">{problem}</p>}
    </fieldset>
  );
}
