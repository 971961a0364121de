"use client";
import type { ComponentProps } from "react";
import { cn } from "@/components/ui/class-names";
import { Input } from "@/components/ui/input";

/** An input for a second-factor code: from an authenticator app, or a recovery code. */
export function CodeInput({ className, ...props }: ComponentProps<typeof Input>) {
  return (
    <Input
      {...props}
      name="code"
      required
      maxLength={40}
      autoComplete="one-time-code"
      autoCapitalize="none"
      spellCheck={false}
      className={cn("font-mono", className)}
    />
  );
}
