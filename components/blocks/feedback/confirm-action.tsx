"use client";
import type { LucideIcon } from "lucide-react";
import type { ComponentProps } from "react";
import { Confirm } from "@/components/ui/alert-dialog";
import { Button, type ButtonProps } from "@/components/ui/button";

/** A button that asks for confirmation and then acts. */
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
  /** The button's label: a verb and at most one noun. If that is ambiguous, `aria-label` names the object. */
  label: string;
  /** The label of the confirming button, if it differs. */
  action?: string;
  isHarmless?: boolean;
  /** False if the button acts without confirmation, for instance because it only undoes another action. */
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
