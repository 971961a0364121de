"use client";
import { type ReactNode, useState } from "react";
import { ANY_AMOUNT, type Bounds, readAmount, toText } from "./amount";
import { Field } from "./field";
import { Input } from "./input";

/**
 * A text field for an amount of money, because a number field drops what it cannot parse. An invalid amount shows its
 * error below and blocks the form.
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
  /** The server's error. */
  problem?: string | undefined;
  bounds?: Bounds;
  /** The initial value. */
  micros?: number | null;
  /** The value of a controlled field. */
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
        <Input
          {...aria}
          inputMode="decimal"
          autoComplete="off"
          onFocus={({ currentTarget }) => currentTarget.select()} // typing replaces it
          // Blocks the form's submission.
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
        />
      )}
    </Field>
  );
}
