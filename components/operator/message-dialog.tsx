"use client";
import { type FormEvent, type ReactNode, useId } from "react";
import { Button } from "@/components/ui/button";
import { Dialog, DialogActions, DialogClose, DialogContent, DialogTrigger } from "@/components/ui/dialog";
import { Label } from "@/components/ui/label";
import { Textarea } from "@/components/ui/textarea";
import { Refusal } from "./refusal";

const MOST_CHARACTERS = 4_000;

/** A dialog that asks for a message to the customer and performs the action. The trigger is the only child. */
export function MessageDialog({
  title,
  description,
  label,
  action,
  actionVariant,
  isOpen,
  onOpenChange,
  isPending,
  error,
  onSend,
  children,
}: {
  title: string;
  description: ReactNode;
  /** The label of the text. */
  label: string;
  action: string;
  actionVariant: "primary" | "danger";
  isOpen: boolean;
  onOpenChange: (isOpen: boolean) => void;
  isPending: boolean;
  error: unknown;
  onSend: (message: string) => void;
  children: ReactNode;
}) {
  const id = useId();
  function submit(event: FormEvent<HTMLFormElement>) {
    event.preventDefault();
    const message = String(new FormData(event.currentTarget).get("message")).trim();
    if (message) onSend(message);
  }
  return (
    <Dialog open={isOpen} onOpenChange={onOpenChange}>
      <DialogTrigger asChild>{children}</DialogTrigger>
      {isOpen && (
        <DialogContent title={title} description={description}>
          <form onSubmit={submit} className="space-y-4">
            <Refusal error={error} />
            <div className="space-y-1.5">
              <Label htmlFor={id}>{label}</Label>
              <Textarea id={id} name="message" required maxLength={MOST_CHARACTERS} rows={5} />
            </div>
            <DialogActions>
              <DialogClose asChild>
                <Button>Cancel</Button>
              </DialogClose>
              <Button type="submit" variant={actionVariant} pending={isPending}>
                {action}
              </Button>
            </DialogActions>
          </form>
        </DialogContent>
      )}
    </Dialog>
  );
}
