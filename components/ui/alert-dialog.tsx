"use client";
import { AlertDialog as Primitive } from "radix-ui";
import type { ReactNode } from "react";
import { Button } from "./button";

/** Asks before an action that cannot be undone. The trigger is the only child. */
export function Confirm({
  title,
  description,
  action,
  actionVariant = "danger",
  keep = "Cancel",
  open,
  onOpenChange,
  onConfirm,
  children,
}: {
  title: string;
  description: ReactNode;
  /** The label of the confirming button. */
  action: string;
  /** Primary where the action is not destructive. */
  actionVariant?: "danger" | "primary";
  keep?: string;
  open?: boolean;
  onOpenChange?: (open: boolean) => void;
  onConfirm: () => void;
  children?: ReactNode;
}) {
  return (
    <Primitive.Root open={open} onOpenChange={onOpenChange}>
      {children && <Primitive.Trigger asChild>{children}</Primitive.Trigger>}
      <Primitive.Portal>
        <Primitive.Overlay className="fade-in fixed inset-0 z-40 bg-veil" />
        <Primitive.Content className="dialog-in fixed top-1/2 left-1/2 z-50 w-[calc(100vw-2rem)] max-w-[30rem] -translate-x-1/2 -translate-y-1/2 rounded-xl border border-line bg-surface p-5 shadow-dialog outline-none">
          <Primitive.Title dir="auto" className="text-xl font-semibold [overflow-wrap:anywhere]">
            {title}
          </Primitive.Title>
          <Primitive.Description asChild>
            <div className="mt-1.5 text-sm text-muted [overflow-wrap:anywhere]">{description}</div>
          </Primitive.Description>
          <div className="mt-5 flex flex-wrap justify-end gap-2">
            <Primitive.Cancel asChild>
              <Button>{keep}</Button>
            </Primitive.Cancel>
            <Primitive.Action asChild onClick={onConfirm}>
              <Button variant={actionVariant}>{action}</Button>
            </Primitive.Action>
          </div>
        </Primitive.Content>
      </Primitive.Portal>
    </Primitive.Root>
  );
}
