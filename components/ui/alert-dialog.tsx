"use client";
import type { ComponentProps, ReactElement, ReactNode } from "react";
import { Button } from "./button";
import { Dialog, DialogActions, DialogClose, DialogContent } from "./dialog";

/** Asks before an action that cannot be undone. The button that asks is the only child. */
export function Confirm({
  title,
  description,
  action,
  actionVariant = "danger",
  keep = "Cancel",
  onConfirm,
  children,
  ...opening
}: {
  title: string;
  description: ReactNode;
  /** The label of the confirming button. */
  action: string;
  /** Use "primary" for an action that is not destructive. */
  actionVariant?: "danger" | "primary";
  keep?: string;
  onConfirm: () => void;
  children?: ReactElement;
} & Pick<ComponentProps<typeof Dialog>, "open" | "onOpenChange">) {
  return (
    <Dialog trigger={children} {...opening}>
      <DialogContent role="alertdialog" ways="keys" title={title} description={description}>
        <DialogActions>
          <DialogClose asChild>
            <Button data-first>{keep}</Button>
          </DialogClose>
          <DialogClose asChild onClick={onConfirm}>
            <Button variant={actionVariant}>{action}</Button>
          </DialogClose>
        </DialogActions>
      </DialogContent>
    </Dialog>
  );
}
