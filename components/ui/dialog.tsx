"use client";
import { Slot } from "radix-ui";
import { type ReactElement, type ReactNode, useState } from "react";
import { onDemand } from "./on-demand";

const { part, prepare } = onDemand(() => import("./dialog-frame"));
const Frame = part((code) => code.DialogFrame);
export const DialogContent = part((code) => code.DialogContent);
export const DialogClose = part((code) => code.DialogClose);
export const Sheet = part((code) => code.Sheet);
export const prepareDialog = prepare;

/**
 * A dialog, controlled or behind a button. Its code is loaded once the button is hovered or focused. Its content is a
 * `DialogContent` or a `Sheet`.
 */
export function Dialog({
  trigger,
  open,
  onOpenChange,
  children,
}: {
  trigger?: ReactElement | undefined;
  open?: boolean | undefined;
  onOpenChange?: ((isOpen: boolean) => void) | undefined;
  children: ReactNode;
}) {
  const [isOwnOpen, setOwnOpen] = useState(false);
  const isOpen = open ?? isOwnOpen;
  const [wasOpened, setWasOpened] = useState(isOpen);
  if (isOpen && !wasOpened) setWasOpened(true);
  function show(next: boolean) {
    setOwnOpen(next);
    onOpenChange?.(next);
  }
  return (
    <>
      {trigger && (
        <Slot.Root
          aria-haspopup="dialog"
          aria-expanded={isOpen}
          onClick={() => show(true)}
          onPointerEnter={prepareDialog}
          onFocus={prepareDialog}
        >
          {trigger}
        </Slot.Root>
      )}
      {wasOpened && (
        <Frame open={isOpen} onOpenChange={show}>
          {children}
        </Frame>
      )}
    </>
  );
}

/** The foot of a dialog, which stays visible while its body scrolls. */
export const DialogActions = ({ children }: { children: ReactNode }) => (
  <div className="sticky -bottom-5 z-10 -mx-5 mt-5 -mb-5 flex min-h-14 flex-wrap items-center justify-end gap-2 border-t border-line-soft bg-surface px-5 py-2.5 first:mt-0">
    {children}
  </div>
);
