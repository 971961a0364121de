"use client";
import { Check } from "lucide-react";
import { Select as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import { SelectIcon, type SelectProps, triggerStyle } from "./select";

/** The code that `select` loads when it is first opened, and then opens. */
export function SelectList({
  name,
  value,
  defaultValue,
  disabled,
  options,
  placeholder,
  className,
  onValueChange,
  fallback: _,
  ...trigger
}: SelectProps & { fallback: ReactNode }) {
  return (
    <Primitive.Root {...{ name, value, defaultValue, disabled, onValueChange }} defaultOpen>
      <Primitive.Trigger className={triggerStyle(className)} {...trigger}>
        <Primitive.Value placeholder={placeholder} />
        <SelectIcon />
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          position="popper"
          sideOffset={4}
          className="pop-in z-50 max-h-[min(22rem,var(--radix-select-content-available-height))] min-w-(--radix-select-trigger-width) overflow-hidden rounded-lg border border-line bg-raised p-1 shadow-raised"
        >
          <Primitive.Viewport>
            {options.map((option) => (
              <Primitive.Item
                key={option.value}
                value={option.value}
                className="relative flex max-w-96 cursor-default items-center gap-2 rounded py-1.5 pr-8 pl-2 text-sm outline-none select-none [overflow-wrap:anywhere] data-highlighted:bg-hover"
              >
                <Primitive.ItemText>{option.label}</Primitive.ItemText>
                <Primitive.ItemIndicator className="absolute right-2">
                  <Check aria-hidden className="size-4 text-link" />
                </Primitive.ItemIndicator>
              </Primitive.Item>
            ))}
          </Primitive.Viewport>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
