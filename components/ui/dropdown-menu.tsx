"use client";
import { Check } from "lucide-react";
import { DropdownMenu as Primitive } from "radix-ui";
import { type ComponentProps, useEffect, useRef } from "react";
import { cn } from "./class-names";
import type { MenuProps } from "./menu-button";

export const DropdownMenuRadioGroup = Primitive.RadioGroup;

/** The menu of a `MenuButton`; it opens when its code is loaded. */
export function DropdownMenu({
  trigger,
  asked,
  className,
  ...rest
}: MenuProps & ComponentProps<typeof Primitive.Content>) {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (asked === "pointer") return;
    button.current?.focus();
    // The primitive focuses the first item only for a key press that it received itself.
    button.current?.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowDown", bubbles: true }));
  }, [asked]);
  return (
    <Primitive.Root defaultOpen={asked === "pointer"}>
      <Primitive.Trigger asChild ref={button}>
        {trigger}
      </Primitive.Trigger>
      <Primitive.Portal>
        <Primitive.Content
          sideOffset={6}
          collisionPadding={8}
          className={cn(
            "pop-in z-50 max-h-[min(26rem,var(--radix-dropdown-menu-content-available-height))] min-w-52 overflow-y-auto rounded-lg border border-line bg-raised p-1 shadow-raised",
            className,
          )}
          {...rest}
        />
      </Primitive.Portal>
    </Primitive.Root>
  );
}

const item =
  "relative flex cursor-default items-center gap-2 rounded px-2 py-1.5 text-sm outline-none select-none data-highlighted:bg-hover data-disabled:opacity-55 [&_svg]:size-4 [&_svg]:shrink-0 [&_svg]:text-muted";

export function DropdownMenuItem({ className, ...rest }: ComponentProps<typeof Primitive.Item>) {
  return <Primitive.Item className={cn(item, className)} {...rest} />;
}

export function DropdownMenuRadioItem({
  className,
  children,
  ...rest
}: ComponentProps<typeof Primitive.RadioItem>) {
  return (
    <Primitive.RadioItem className={cn(item, "pr-8", className)} {...rest}>
      {children}
      <Primitive.ItemIndicator className="absolute right-2">
        <Check aria-hidden className="text-link!" />
      </Primitive.ItemIndicator>
    </Primitive.RadioItem>
  );
}

export function DropdownMenuLabel({ className, ...rest }: ComponentProps<typeof Primitive.Label>) {
  return (
    <Primitive.Label className={cn("px-2 py-1.5 text-2xs font-medium text-faint", className)} {...rest} />
  );
}

export function DropdownMenuSeparator() {
  return <Primitive.Separator className="-mx-1 my-1 h-px bg-line" />;
}
