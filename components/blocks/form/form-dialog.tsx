"use client";
import { type ReactElement, type ReactNode, useEffect, useState } from "react";
import { Button } from "@/components/ui/button";
import { Dialog, DialogActions, DialogContent } from "@/components/ui/dialog";
import { discardTyped, useUnsaved } from "@/components/unsaved/unsaved-work";
import { Form, type FormAction } from "./form";
import type { FormValues } from "./form-values";

export type FormDialogProps = {
  title: ReactNode;
  description?: ReactNode;
  /** The button that opens the dialog; without one `isOpen` controls it. */
  trigger?: ReactElement;
  isOpen?: boolean;
  onOpenChange?: (isOpen: boolean) => void;
  action: FormAction & { isSuccess: boolean; reset(): void };
  send(sent: FormValues): void;
  /** The label of the submit button. */
  submit: string;
  tone?: "primary" | "danger";
  isReady?: boolean;
  isWide?: boolean;
  /** True once there is nothing left to submit, for instance because the item has changed; the dialog then closes. */
  hasEnded?: boolean;
  /** Replaces the form after success, for content that is shown only once; without it the dialog closes. */
  after?: ReactNode;
  children?: ReactNode;
};

/**
 * A form in a dialog. The dialog closes after success, or by Cancel; any other way out asks before it discards typed text.
 */
export function FormDialog(props: FormDialogProps) {
  const { trigger, action, after } = props;
  const [isOwnOpen, setOwnOpen] = useState(false);
  const [isTyped, setTyped] = useState(false);
  const isOpen = props.isOpen ?? isOwnOpen;
  useUnsaved(isOpen && isTyped && !action.isSuccess);
  function show(next: boolean) {
    setOwnOpen(next);
    setTyped(false);
    if (!next) action.reset();
    props.onOpenChange?.(next);
  }
  const isDone = isOpen && (props.hasEnded || (action.isSuccess && !after));
  // biome-ignore lint/correctness/useExhaustiveDependencies: it closes once, when it is done
  useEffect(() => {
    if (isDone) show(false);
  }, [isDone]);
  const close = (next: boolean) => {
    if (next || !isTyped || action.isSuccess) show(next);
    else discardTyped(() => show(false));
  };
  return (
    <Dialog trigger={trigger} open={isOpen} onOpenChange={close}>
      {isOpen && (after || <Body {...props} onInput={() => setTyped(true)} onCancel={() => show(false)} />)}
    </Dialog>
  );
}

function Body({
  title,
  description,
  action,
  send,
  submit,
  tone = "primary",
  isReady = true,
  isWide,
  children,
  onInput,
  onCancel,
}: FormDialogProps & { onInput(): void; onCancel(): void }) {
  return (
    <DialogContent title={title} description={description} className={isWide ? "max-w-2xl" : undefined}>
      <Form action={action} send={send} onInput={onInput}>
        {children}
        <DialogActions>
          <Button onClick={onCancel}>Cancel</Button>
          <Button type="submit" variant={tone} pending={action.isPending} disabled={!isReady}>
            {submit}
          </Button>
        </DialogActions>
      </Form>
    </DialogContent>
  );
}
