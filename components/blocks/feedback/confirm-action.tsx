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
} & Omit<ComponentProps<typeof Confirm>, "children" | "action" | "actionVariant" | "open" | "onOpenChange"> &
  Pick<ButtonProps, "size" | "variant" | "className" | "pending" | "disabled" | "aria-label">) {
  return (
    <Confirm
      {...{ title, description, action, keep, onConfirm }}
      actionVariant={isHarmless ? "primary" : "danger"}
    >
      <Button {...button}>
        {Icon && <Icon aria-hidden />}
        {label}
      </Button>
    </Confirm>
  );
}
