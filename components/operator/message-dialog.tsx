"use client";
import type { LucideIcon } from "lucide-react";
import type { ReactNode } from "react";
import { LinesField } from "@/components/blocks/form/fields";
import { FormDialog, type FormDialogProps } from "@/components/blocks/form/form-dialog";
import { Button } from "@/components/ui/button";
import { isOutdated } from "./use-act";

const MOST_CHARACTERS = 4_000;

/** A button that asks for a message to the customer and performs the action. */
export function MessageDialog({
  icon: Icon,
  button,
  label,
  onSend,
  ...dialog
}: {
  icon: LucideIcon;
  /** The button that opens it. */
  button: string;
  description: ReactNode;
  /** The label of the text. */
  label: string;
  onSend: (message: string) => void;
} & Pick<FormDialogProps, "title" | "submit" | "tone" | "action">) {
  return (
    <FormDialog
      {...dialog}
      hasEnded={isOutdated(dialog.action.error)}
      trigger={
        <Button>
          <Icon aria-hidden />
          {button}
        </Button>
      }
      send={(sent) => {
        const message = sent.text("message");
        if (message) onSend(message);
      }}
    >
      <LinesField name="message" label={label} required maxLength={MOST_CHARACTERS} rows={5} />
    </FormDialog>
  );
}
