"use client";
import type { ComponentProps, ReactElement } from "react";
import { Opener, onDemand, useOpening } from "./on-demand";

const Frame = onDemand(async () => (await import("./dialog-frame")).ConfirmFrame);
export const prepareConfirm = Frame.prepare;

/** Asks before an action that cannot be undone. The button that asks is the only child. */
export function Confirm({
  children,
  open,
  onOpenChange,
  ...asked
}: Omit<ComponentProps<typeof Frame>, "fallback"> & { children?: ReactElement }) {
  const { isOpen, wasOpened, show } = useOpening({ open, onOpenChange });
  return (
    <>
      {children && (
        <Opener isOpen={isOpen} prepare={Frame.prepare} onOpen={() => show(true)}>
          {children}
        </Opener>
      )}
      {wasOpened && <Frame {...asked} open={isOpen} onOpenChange={show} />}
    </>
  );
}
