"use client";
import { X } from "lucide-react";
import { Dialog as Primitive } from "radix-ui";
import type { ComponentProps, ReactNode } from "react";
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
  return (
    <Primitive.Portal>
      <Primitive.Overlay className="fade-in fixed inset-0 z-40 bg-veil" />
      <Primitive.Content
        className={cn(
          "pop-in fixed top-1/2 left-1/2 z-50 max-h-[calc(100dvh-2rem)] w-[calc(100vw-2rem)] max-w-lg -translate-x-1/2 -translate-y-1/2 overflow-y-auto rounded-xl border border-line bg-surface p-5 shadow-raised outline-none",
          className,
        )}
        {...(description ? {} : { "aria-describedby": undefined })}
        {...(ways === "button" ? { onEscapeKeyDown: stay, onInteractOutside: stay } : {})}
        {...rest}
      >
        <Primitive.Title dir="auto" className="pr-8 text-lg font-semibold [overflow-wrap:anywhere]">
          {title}
        </Primitive.Title>
        {description && (
          <Primitive.Description className="mt-1 text-sm text-muted [overflow-wrap:anywhere]">
            {description}
          </Primitive.Description>
        )}
        <div className="mt-4">{children}</div>
        {ways === "any" && (
          <Primitive.Close asChild>
            <Button variant="ghost" size="icon" aria-label="Close" className="absolute top-3.5 right-3.5">
              <X aria-hidden />
            </Button>
          </Primitive.Close>
        )}
      </Primitive.Content>
    </Primitive.Portal>
  );
}

export function DialogActions({ className, ...rest }: ComponentProps<"div">) {
  return <div className={cn("mt-5 flex flex-wrap justify-end gap-2", className)} {...rest} />;
}

/** The footer of a form in a dialog: cancel or submit. */
export function SubmitActions({ pending, children }: { pending: boolean; children: ReactNode }) {
  return (
    <DialogActions>
      <DialogClose asChild>
        <Button>Cancel</Button>
      </DialogClose>
      <Button type="submit" variant="primary" pending={pending}>
        {children}
      </Button>
    </DialogActions>
  );
}

/** A sheet that slides in from the left edge: navigation on a phone. */
export function Sheet({ title, children }: { title: string; children: ReactNode }) {
  return (
    <Primitive.Portal>
      <Primitive.Overlay className="fade-in fixed inset-0 z-40 bg-veil" />
      <Primitive.Content
        aria-describedby={undefined}
        className="slide-in fixed inset-y-0 left-0 z-50 flex w-72 max-w-[85vw] flex-col overflow-y-auto border-r border-line bg-sunken shadow-raised outline-none"
      >
        <Primitive.Title className="sr-only">{title}</Primitive.Title>
        {children}
      </Primitive.Content>
    </Primitive.Portal>
  );
}
