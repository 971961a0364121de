"use client";
import { Check, ChevronDown } from "lucide-react";
import { Select as Primitive } from "radix-ui";
import {
  Children,
  type ComponentProps,
  createContext,
  isValidElement,
  type PropsWithChildren,
  type ReactNode,
  useContext,
} from "react";
import { cn } from "./class-names";
import { fieldStyle } from "./input";

const ChosenLabel = createContext<ReactNode>(undefined);

/** A select. Its label is in the server's HTML too, where the primitive would wait for its items to mount. */
export function Select({ children, ...rest }: ComponentProps<typeof Primitive.Root>) {
  return (
    <ChosenLabel value={labelOf(rest.value, children)}>
      <Primitive.Root {...rest}>{children}</Primitive.Root>
    </ChosenLabel>
  );
}

function labelOf(value: string | undefined, nodes: ReactNode): ReactNode {
  for (const node of Children.toArray(nodes)) {
    if (!isValidElement<PropsWithChildren<{ value?: string }>>(node)) continue;
    const { props, type } = node;
    if (type === SelectItem && props.value === value) return props.children;
    const label = labelOf(value, props.children);
    if (label !== undefined) return label;
  }
  return undefined;
}

export function SelectTrigger({
  className,
  children,
  placeholder,
  ...rest
}: ComponentProps<typeof Primitive.Trigger> & { placeholder?: string }) {
  const label = useContext(ChosenLabel);
  return (
    <Primitive.Trigger
      className={cn(
        fieldStyle,
        "inline-flex items-center justify-between gap-2 text-left data-placeholder:text-faint [&>span]:truncate",
        className,
      )}
      {...rest}
    >
      {children ?? <Primitive.Value placeholder={placeholder}>{label}</Primitive.Value>}
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
        className="pop-in z-50 max-h-[min(22rem,var(--radix-select-content-available-height))] min-w-(--radix-select-trigger-width) overflow-hidden rounded-lg border border-line bg-raised p-1 shadow-raised"
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
