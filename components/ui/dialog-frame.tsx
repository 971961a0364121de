"use client";
import { X } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import { type ComponentProps, type ReactNode, useRef } from "react";
import { Button } from "./button";
import { cn } from "./class-names";

/* The code that `dialog` loads when a dialog first opens. */

export const DialogFrame = Primitive.Root;
export const DialogClose = Primitive.Close;

const stay = (event: Event) => event.preventDefault();

/**
 * Moves the focus to the element marked as first, and back to the element that opened the dialog, which the primitive does
 * only for its own trigger.
 */
function useFocusBack() {
  const opener = useRef<Element>(null);
  return {
    onOpenAutoFocus(event: Event) {
      opener.current = document.activeElement;
      const first = event.target instanceof Element && event.target.querySelector("[data-first]");
      if (!(first instanceof HTMLElement)) return;
      event.preventDefault();
      first.focus();
    },
    onCloseAutoFocus(event: Event) {
      const { current } = opener;
      if (!(current instanceof HTMLElement) || current === document.body || !current.isConnected) return;
      event.preventDefault();
      current.focus();
    },
  };
}

/** A modal with a title and one sentence on its purpose. */
export function DialogContent({
  className,
  children,
  title,
  description,
  ways = "any",
  ...rest
}: Omit<ComponentProps<typeof Primitive.Content>, "title"> & {
  title: ReactNode;
  description?: ReactNode;
  /**
   * The ways to close the dialog: any, Escape and its own buttons (`keys`), or only its button, for a secret that is shown
   * once.
   */
  ways?: "any" | "keys" | "button";
}) {
  return (
    <Primitive.Portal>
      <Primitive.Overlay className="fade-in fixed inset-0 z-40 bg-veil" />
      <Primitive.Content
        className={cn(
          "dialog-in fixed top-1/2 left-1/2 z-50 flex max-h-[85dvh] w-[calc(100vw-2rem)] max-w-[30rem] -translate-x-1/2 -translate-y-1/2 flex-col overflow-y-auto rounded-xl border border-line bg-surface px-5 pb-5 shadow-dialog outline-none",
          className,
        )}
        {...useFocusBack()}
        {...(description ? {} : { "aria-describedby": undefined })}
        {...(ways !== "any" && { onInteractOutside: stay })}
        {...(ways === "button" && { onEscapeKeyDown: stay })}
        {...rest}
      >
        <Primitive.Title
          dir="auto"
          className="sticky top-0 z-10 -mx-5 bg-surface pt-4.5 pr-13 pb-2 pl-5 text-xl font-semibold [overflow-wrap:anywhere]"
        >
          {title}
        </Primitive.Title>
        {description && (
          <Primitive.Description asChild>
            <div className="text-sm text-muted [overflow-wrap:anywhere]">{description}</div>
          </Primitive.Description>
        )}
        <div className="mt-4">{children}</div>
        {ways === "any" && (
          // Last in the focus order, so that a form's first field gets the focus.
          <div className="sticky top-0 z-20 -order-1 h-0 shrink-0 self-end">
            <Primitive.Close asChild>
              <Button
                variant="ghost"
                size="icon"
                aria-label="Close"
                className="relative top-4 -right-1.5 max-sm:size-9"
              >
                <X aria-hidden />
              </Button>
            </Primitive.Close>
          </div>
        )}
      </Primitive.Content>
    </Primitive.Portal>
  );
}

/** A sheet that slides in from the left edge: navigation on a phone. */
export function Sheet({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Primitive.Portal>
      <Primitive.Overlay className="fade-in fixed inset-0 z-40 bg-veil" />
      <Primitive.Content
        {...useFocusBack()}
        aria-describedby={undefined}
        className="slide-in fixed inset-y-0 left-0 z-50 flex w-72 max-w-[85vw] flex-col overflow-y-auto border-r border-line bg-sidebar shadow-dialog outline-none"
      >
        <Primitive.Title className="sr-only">{title}</Primitive.Title>
        {children}
      </Primitive.Content>
    </Primitive.Portal>
  );
}
