"use client";
import type { ReactElement, ReactNode } from "react";
import { cn } from "./class-names";
import { Opener, onDemand, useOpening } from "./on-demand";

const load = () => import("./dialog-frame");
const Frame = onDemand(async () => (await load()).DialogFrame);
export const DialogContent = onDemand(async () => (await load()).DialogContent);
export const DialogClose = onDemand(async () => (await load()).DialogClose);
export const Sheet = onDemand(async () => (await load()).Sheet);

/** A dialog, by itself or behind a button. Its content is a `DialogContent` or a `Sheet`. */
export function Dialog({
  trigger,
  children,
  ...opening
}: {
  trigger?: ReactElement;
  open?: boolean;
  onOpenChange?: (isOpen: boolean) => void;
  children: ReactNode;
}) {
  const { isOpen, wasOpened, show } = useOpening(opening);
  return (
    <>
      {trigger && (
        <Opener isOpen={isOpen} prepare={Frame.prepare} onOpen={() => show(true)}>
          {trigger}
        </Opener>
      )}
      {wasOpened && (
        <Frame open={isOpen} onOpenChange={show}>
          {children}
        </Frame>
      )}
    </>
  );
}

/** The foot of a dialog, in sight however far its body scrolls. */
export function DialogActions({ children }: { children: ReactNode }) {
  return (
    <div
      className={cn(
        "sticky -bottom-5 z-10 -mx-5 mt-5 -mb-5 flex min-h-14 flex-wrap items-center justify-end gap-2 border-t border-line-soft bg-surface px-5 py-2.5",
      )}
    >
      {children}
    </div>
  );
}
