"use client";
import { X } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import { type ComponentProps, type ReactNode, useRef } from "react";
import { Button } from "./button";
import { cn } from "./class-names";

export const Dialog = Primitive.Root;
export const DialogTrigger = Primitive.Trigger;
export const DialogClose = Primitive.Close;

const stay = (event: Event) => event.preventDefault();

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
  /** How it closes. A dialog that shows a secret once closes only by its own button. */
  ways?: "any" | "button";
}) {
  const opener = useRef<Element>(null);
  return (
    <Primitive.Portal>
      <Primitive.Overlay className="fade-in fixed inset-0 z-40 bg-veil" />
      <Primitive.Content
        className={cn(
          "dialog-in fixed top-1/2 left-1/2 z-50 flex max-h-[85dvh] w-[calc(100vw-2rem)] max-w-[30rem] -translate-x-1/2 -translate-y-1/2 flex-col overflow-y-auto rounded-xl border border-line bg-surface px-5 pb-5 shadow-dialog outline-none",
          className,
        )}
        onOpenAutoFocus={() => {
          opener.current = document.activeElement;
        }}
        onCloseAutoFocus={(event) => {
          const { current } = opener;
          if (!(current instanceof HTMLElement) || current === document.body || !current.isConnected) return;
          event.preventDefault(); // the primitive knows only a trigger of its own
          current.focus();
        }}
        {...(description ? {} : { "aria-describedby": undefined })}
        {...(ways === "button" ? { onEscapeKeyDown: stay, onInteractOutside: stay } : {})}
        {...rest}
      >
        <Primitive.Title
          dir="auto"
          className="sticky top-0 z-10 -mx-5 bg-surface pt-4.5 pr-13 pb-2 pl-5 text-xl font-semibold [overflow-wrap:anywhere]"
        >
          {title}
        </Primitive.Title>
        {description && (
          <Primitive.Description className="text-sm text-muted [overflow-wrap:anywhere]">
            {description}
          </Primitive.Description>
        )}
        <div className="mt-4">{children}</div>
        {ways === "any" && (
          // Last in the order of focus, so that a form's first field has it first.
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

/** The foot of a dialog, in sight however far its body scrolls. */
export function DialogActions({ className, ...rest }: ComponentProps<"div">) {
  return (
    <div
      className={cn(
        "sticky -bottom-5 z-10 -mx-5 mt-5 -mb-5 flex min-h-14 flex-wrap items-center justify-end gap-2 border-t border-line-soft bg-surface px-5 py-2.5",
        className,
      )}
      {...rest}
    />
  );
}

/** A sheet that slides in from the left edge: navigation on a phone. */
export function Sheet({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Primitive.Portal>
      <Primitive.Overlay className="fade-in fixed inset-0 z-40 bg-veil" />
      <Primitive.Content
        aria-describedby={undefined}
        className="slide-in fixed inset-y-0 left-0 z-50 flex w-72 max-w-[85vw] flex-col overflow-y-auto border-r border-line bg-sidebar shadow-dialog outline-none"
      >
        <Primitive.Title className="sr-only">{title}</Primitive.Title>
        {children}
      </Primitive.Content>
    </Primitive.Portal>
  );
}
