"use client";
import { Check, ChevronDown } from "lucide-react";
import { Select as Primitive } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
import { cn } from "./class-names";
import { fieldStyle } from "./input";

export const Select = Primitive.Root;

export function SelectTrigger({
  className,
  children,
  placeholder,
  ...rest
}: ComponentProps<typeof Primitive.Trigger> & { placeholder?: string }) {
  return (
    <Primitive.Trigger
      className={cn(
        fieldStyle,
        "inline-flex items-center justify-between gap-2 text-left data-placeholder:text-muted [&>span]:truncate",
        className,
      )}
      {...rest}
    >
      {children ?? <Primitive.Value placeholder={placeholder} />}
      <Primitive.Icon asChild>
        <ChevronDown aria-hidden className="size-4 shrink-0 text-muted" />
      </Primitive.Icon>
    </Primitive.Trigger>
  );
}

export function SelectContent({ children }: { children: ReactNode }) {
  return (
    <Primitive.Portal>
      <Primitive.Content
        position="popper"
        sideOffset={4}
        className="pop-in z-50 max-h-[min(22rem,var(--radix-select-content-available-height))] min-w-(--radix-select-trigger-width) overflow-hidden rounded-md border border-line bg-surface p-1 shadow-raised"
      >
        <Primitive.Viewport>{children}</Primitive.Viewport>
      </Primitive.Content>
    </Primitive.Portal>
  );
}

export function SelectItem({ children, className, ...rest }: ComponentProps<typeof Primitive.Item>) {
  return (
    <Primitive.Item
      className={cn(
        "relative flex cursor-default items-center gap-2 rounded py-1.5 pr-8 pl-2 text-sm outline-none select-none data-highlighted:bg-hover",
        className,
      )}
      {...rest}
    >
      <Primitive.ItemText>{children}</Primitive.ItemText>
      <Primitive.ItemIndicator className="absolute right-2">
        <Check aria-hidden className="size-4 text-link" />
      </Primitive.ItemIndicator>
    </Primitive.Item>
  );
}
