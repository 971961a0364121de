"use client";
import { type ComponentProps, type ReactNode, useState } from "react";
import { ANY_AMOUNT, type Bounds, readAmount, toText } from "./amount";
import { Field } from "./field";
import { Input } from "./input";

/**
 * A field for an amount of money: text, since a number field drops what it cannot read. What is wrong is said below it,
 * and its form is not sent meanwhile.
 */
export function AmountField({
  id,
  name,
  label,
  hint,
  problem,
  bounds = ANY_AMOUNT,
  micros = null,
  text,
  onText,
  required = false,
  placeholder,
}: {
  id: string;
  name: string;
  label: string;
  hint?: ReactNode;
  /** What the server found wrong. */
  problem?: string | undefined;
  bounds?: Bounds;
  /** What is in it at first. */
  micros?: number | null;
  /** What is in it, where others change it as well. */
  text?: string;
  onText?: (text: string) => void;
  required?: boolean;
  placeholder?: string;
}) {
  const [own, setOwn] = useState(micros === null ? "" : toText(micros));
  const [isChecked, setChecked] = useState(false);
  const value = text ?? own;
  const found = value === "" && !required ? null : readAmount(value, bounds).problem;
  return (
    <Field id={id} label={label} hint={hint} problem={(isChecked && found) || problem}>
      {(aria) => (
        <AmountInput
          {...aria}
          // Keeps the form from being sent.
          ref={(input) => input?.setCustomValidity(found ?? "")}
          name={name}
          required={required}
          placeholder={placeholder}
          value={value}
          onChange={({ target }) => {
            setChecked(false);
            setOwn(target.value);
            onText?.(target.value);
          }}
          onBlur={() => setChecked(true)}
          onInvalid={(event) => {
            event.preventDefault(); // the browser would say it in a bubble of its own
            setChecked(true);
            const input = event.currentTarget;
            if (input.form?.querySelector("input:invalid") === input) input.focus();
          }}
        />
      )}
    </Field>
  );
}

/** The input of such a field, for forms that say themselves what is wrong. Typing replaces what is in it on focus. */
export function AmountInput(props: ComponentProps<typeof Input>) {
  return (
    <Input
      {...props}
      inputMode="decimal"
      autoComplete="off"
      onFocus={({ currentTarget }) => currentTarget.select()}
    />
  );
}
