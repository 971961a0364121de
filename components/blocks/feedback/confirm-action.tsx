"use client";
import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button, type ButtonProps } from "@/components/ui/button";

/** A button that asks, then acts. */
export function ConfirmAction({
  icon: Icon,
  label,
  isHarmless = false,
  isAsked = true,
  title,
  description,
  action = label,
  keep,
  onConfirm,
  ...button
}: {
  icon?: LucideIcon;
  /** The button: a verb and at most one noun. Where that is not enough, `aria-label` names what it acts on. */
  label: string;
  /** The button that acts, where it says more. */
  action?: string;
  isHarmless?: boolean;
  /** False: it acts at once, as where it takes back what the other label asks about. */
  isAsked?: boolean;
} & Omit<ComponentProps<typeof Confirm>, "children" | "action" | "actionVariant" | "open" | "onOpenChange"> &
  Pick<ButtonProps, "size" | "variant" | "className" | "pending" | "disabled" | "aria-label">) {
  const shown = (
    <Button {...button} {...(!isAsked && { onClick: onConfirm })}>
      {Icon && <Icon aria-hidden />}
      {label}
    </Button>
  );
  if (!isAsked) return shown;
  return (
    <Confirm
      {...{ title, description, action, keep, onConfirm }}
      actionVariant={isHarmless ? "primary" : "danger"}
    >
      {shown}
    </Confirm>
  );
}
