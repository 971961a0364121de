"use client";
import { ChevronDown } from "lucide-react";
import { type ComponentProps, useState } from "react";
import { cn } from "./class-names";
import { fieldStyle } from "./input";
import { onDemand } from "./on-demand";

export type Option = { value: string; label: string };

export type SelectProps = {
  /** The select's name in a form. */
  name?: string;
  /** The chosen value, if the owner controls the choice. */
  value?: string;
  defaultValue?: string;
  options: readonly Option[];
  placeholder?: string;
  onValueChange?(value: string): void;
} & Pick<
  ComponentProps<"button">,
  "id" | "className" | "disabled" | (`aria-${string}` & keyof ComponentProps<"button">)
>;

const { part, prepare } = onDemand(() => import("./select-list"));
const List = part((code) => code.SelectList);

/** The style of a closed select, before and after its list is loaded. */
export const triggerStyle = (className: string | undefined) =>
  cn(
    fieldStyle,
    "inline-flex items-center justify-between gap-2 text-left data-placeholder:text-faint [&>span]:truncate",
    className,
  );

export function SelectIcon() {
  return <ChevronDown aria-hidden className="size-4 shrink-0 text-muted" />;
}

const OPENING_KEYS = ["ArrowDown", "ArrowUp"];

/** A select. It is only a button until it is first opened, because its list is loaded then. */
export function Select(props: SelectProps) {
  const [isAsked, setAsked] = useState(false);
  const { name, value, defaultValue, options, placeholder, className, onValueChange: _, ...button } = props;
  const shown = value ?? defaultValue;
  const label = options.find((option) => option.value === shown)?.label;
  const closed = (
    <>
      {name && <input type="hidden" name={name} value={shown ?? ""} disabled={button.disabled} />}
      <button
        type="button"
        role="combobox"
        aria-expanded={false}
        aria-autocomplete="none"
        {...(label === undefined && { "data-placeholder": "" })}
        className={triggerStyle(className)}
        onPointerEnter={prepare}
        onFocus={prepare}
        onClick={() => setAsked(true)}
        onKeyDown={(event) => {
          if (!OPENING_KEYS.includes(event.key)) return;
          event.preventDefault();
          setAsked(true);
        }}
        {...button}
      >
        <span>{label ?? placeholder}</span>
        <SelectIcon />
      </button>
    </>
  );
  return isAsked ? <List {...props} fallback={closed} /> : closed;
}
