"use client";
import { Tabs as Primitive } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "./class-names";

export function Tabs({ className, ...rest }: ComponentProps<typeof Primitive.Root>) {
  return <Primitive.Root className={cn("min-w-0", className)} {...rest} />;
}

export function TabsList({ className, ...rest }: ComponentProps<typeof Primitive.List>) {
  return (
    <Primitive.List
      className={cn(
        "inline-flex flex-wrap items-center gap-0.5 rounded-md bg-sunken p-0.5 ring-1 ring-line ring-inset",
        className,
      )}
      {...rest}
    />
  );
}

export function TabsTrigger({ className, ...rest }: ComponentProps<typeof Primitive.Trigger>) {
  return (
    <Primitive.Trigger
      className={cn(
        "h-6 rounded px-2.5 text-xs font-medium text-muted transition-colors hover:text-text disabled:opacity-50 data-[state=active]:bg-raised data-[state=active]:text-text data-[state=active]:shadow-card data-[state=active]:ring-1 data-[state=active]:ring-line",
        className,
      )}
      {...rest}
    />
  );
}

export function TabsContent({ className, ...rest }: ComponentProps<typeof Primitive.Content>) {
  return <Primitive.Content className={cn("min-w-0", className)} {...rest} />;
}
